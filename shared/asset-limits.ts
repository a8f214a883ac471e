/**
 * asset-limits.ts: the limits of stored files, signed links, remote media and tenant settings, each with its unit and reason.
 */

// ── Assets ──

/** Largest stored file by type, in bytes: what a page can show and a model accepts. SPEC AS3. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024
export const MAX_AUDIO_BYTES = 25 * 1024 * 1024
export const MAX_VIDEO_BYTES = 100 * 1024 * 1024
export const MAX_PDF_BYTES = 32 * 1024 * 1024
export const MAX_TEXT_BYTES = 10 * 1024 * 1024

/** Largest canvas document, in bytes: a page with its scripts and images inline. SPEC AS11. */
export const MAX_CANVAS_BYTES = 512 * 1024

/** Largest document of an MCP App, in bytes, without the line in front of it. SPEC MA2. */
export const MAX_APP_BYTES = 1024 * 1024

/** Longest first line of a stored app, which names its server and the origins that it declares. */
export const MAX_APP_HEAD_BYTES = 16 * 1024

/** The type of a document that is an MCP App. Other documents have no bridge and no network. */
export const APP_MIME_TYPE = "text/html;profile=mcp-app"

/** Maximum number and total size, in bytes, of the files of a session. Uploads in progress count. SPEC AS4. */
export const MAX_SESSION_ASSETS = 500
export const MAX_SESSION_ASSET_BYTES = 1024 * 1024 * 1024

/** Number of bytes at the start of a file from which its type is detected: enough for every accepted format. SPEC AS2. */
export const FILE_TYPE_BYTES = 4096

/** Number of bytes at the start of an image that are searched for its width and height: a photo's preview and colour profile may precede them. SPEC AS15. */
export const IMAGE_SIZE_BYTES = 128 * 1024

/**
 * Largest width or height that is recorded for an image, in pixels: the largest that all image formats can express. SPEC
 * AS15.
 */
export const MAX_SIDE = 65_535

/** Longest upload of an asset, in milliseconds: the largest video at 1 Mbit/s. SPEC AS7. */
export const MAX_UPLOAD_MS = 15 * 60_000

/**
 * How much of a refused upload is still read, in bytes, and for how long, in milliseconds, because most senders read the
 * response only after the body. SPEC AS3.
 */
export const MAX_REFUSED_BYTES = 32 * 1024 * 1024
export const REFUSED_UPLOAD_MS = 5_000

/** Age at which an unfinished upload is discarded, in milliseconds: twice the longest upload. SPEC AS7. */
export const ASSET_PENDING_MS = 2 * MAX_UPLOAD_MS

/** Maximum number of URLs in one signing request: more than a page of history usually shows. SPEC MS1. */
export const MAX_SIGNED_URLS = 100

/**
 * Longest validity of a signed link, in seconds. After that the page requests a new one. The signature is part of the URL,
 * and proxies and platforms log URLs, so it has to expire soon. SPEC MS2.
 */
export const SIGNED_URL_SECONDS = 10 * 60

/** Interval in seconds within which a URL is signed identically, so that browsers can cache what it links to. SPEC MS2. */
export const SIGNED_URL_STEP_SECONDS = 5 * 60

// ── Remote media and tenant settings ──

/** Maximum number of redirects of remote media: one to `www`, one to a mirror, and two to spare. SPEC RM5. */
export const MAX_REMOTE_REDIRECTS = 4

/** Longest wait for remote media, in milliseconds: for its first byte, redirects included, and for the whole file. SPEC RM3. */
export const REMOTE_FIRST_BYTE_MS = 15_000
export const REMOTE_MS = 5 * 60_000

/** Largest remote file that is cached, in bytes: the whole file may be in memory. SPEC RM4. */
export const MAX_REMOTE_CACHED_BYTES = 16 * 1024 * 1024

/** How long remote media is cached, in seconds: as long as a user may read one conversation. SPEC RM4. */
export const REMOTE_FRESH_SECONDS = 60 * 60

/** Maximum number of origins that a tenant allows in frames: they are listed in a header, whose size proxies limit. SPEC SE2. */
export const MAX_EMBED_ORIGINS = 32

/** Maximum number of hosts whose media a tenant loads without a click: every session stores the list. SPEC SE2. */
export const MAX_MEDIA_HOSTS = 100

/** How long the Worker caches a tenant's settings for the page's policy, in milliseconds. SPEC HD2. */
export const SETTINGS_FRESH_MS = 10_000

/**
 * The folder of the page's own files in the bucket of assets. Every other key begins with the id of a tenant, which
 * contains no `~`.
 */
export const PAGE_FILES_FOLDER = "~page"
