/**
 * asset-limits.ts: the limits of stored files, signed links, remote media and tenant settings, each with its unit and
 * reason.
 */

// ── Assets ──

/** Maximum size of a stored file by type, in bytes: what a page can show and models accept. SPEC AS3. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024
export const MAX_AUDIO_BYTES = 25 * 1024 * 1024
export const MAX_VIDEO_BYTES = 100 * 1024 * 1024
export const MAX_PDF_BYTES = 32 * 1024 * 1024
export const MAX_TEXT_BYTES = 10 * 1024 * 1024

/** Maximum size of a canvas document, in bytes: enough for a page with inline scripts and images. SPEC AS11. */
export const MAX_CANVAS_BYTES = 512 * 1024

/** Maximum size of an MCP App's document, in bytes, excluding the line stored before it. SPEC MA2. */
export const MAX_APP_BYTES = 1024 * 1024

/**
 * Maximum length of a stored app's first line, in bytes. The line names the app's server and the origins that the app
 * declares.
 */
export const MAX_APP_HEAD_BYTES = 16 * 1024

/** The MIME type of MCP App documents. Other documents get no bridge and no network access. */
export const APP_MIME_TYPE = "text/html;profile=mcp-app"

/** Maximum number and total size, in bytes, of a session's files, including uploads in progress. SPEC AS4. */
export const MAX_SESSION_ASSETS = 500
export const MAX_SESSION_ASSET_BYTES = 1024 * 1024 * 1024

/**
 * Number of bytes at the start of a file from which its type is detected: enough for every accepted format. SPEC AS2.
 */
export const FILE_TYPE_BYTES = 4096

/**
 * Number of bytes at the start of an image that are searched for the image's dimensions: a photo's preview and colour
 * profile may precede them. SPEC AS15.
 */
export const IMAGE_SIZE_BYTES = 128 * 1024

/**
 * Maximum width or height recorded for an image, in pixels: the largest value that all image formats can express. SPEC
 * AS15.
 */
export const MAX_SIDE = 65_535

/** Maximum duration of an asset upload, in milliseconds: enough for the largest video at 1 Mbit/s. SPEC AS7. */
export const MAX_UPLOAD_MS = 15 * 60_000

/**
 * A refused upload is read up to this many bytes and for this many milliseconds, because most clients read the response
 * only after they have sent the whole body. SPEC AS3.
 */
export const MAX_REFUSED_BYTES = 32 * 1024 * 1024
export const REFUSED_UPLOAD_MS = 5_000

/** Age at which an unfinished upload is discarded, in milliseconds: twice the longest upload. SPEC AS7. */
export const ASSET_PENDING_MS = 2 * MAX_UPLOAD_MS

/** Maximum number of URLs in one signing request: more than a page of history usually shows. SPEC MS1. */
export const MAX_SIGNED_URLS = 100

/**
 * Maximum lifetime of a signed link, in seconds. After that, the page requests a new one. The signature is part of the
 * URL, and proxies and platforms log URLs, so the signature must expire soon. SPEC MS2.
 */
export const SIGNED_URL_SECONDS = 10 * 60

/**
 * Interval in seconds within which signing a URL again gives the same signed URL, so that browsers can cache the file.
 * SPEC MS2.
 */
export const SIGNED_URL_STEP_SECONDS = 5 * 60

// ── Remote media and tenant settings ──

/** Maximum number of redirects for remote media: one to `www`, one to a mirror, and two to spare. SPEC RM5. */
export const MAX_REMOTE_REDIRECTS = 4

/**
 * Maximum wait for remote media, in milliseconds: for the first byte, including redirects, and for the whole file. SPEC
 * RM3.
 */
export const REMOTE_FIRST_BYTE_MS = 15_000
export const REMOTE_MS = 5 * 60_000

/** Maximum size of a cached remote file, in bytes: the whole file may be in memory. SPEC RM4. */
export const MAX_REMOTE_CACHED_BYTES = 16 * 1024 * 1024

/** How long remote media is cached, in seconds: about the time for which a user reads one conversation. SPEC RM4. */
export const REMOTE_FRESH_SECONDS = 60 * 60

/**
 * Maximum number of origins that a tenant can allow in frames: a header lists them, and proxies limit the size of
 * headers. SPEC SE2.
 */
export const MAX_EMBED_ORIGINS = 32

/**
 * Maximum number of hosts whose media a tenant can allow to load without a click: every session stores the list. SPEC
 * SE2.
 */
export const MAX_MEDIA_HOSTS = 100

/**
 * How long the Worker caches the tenant settings that determine the page's security policy, in milliseconds. SPEC HD2.
 */
export const SETTINGS_FRESH_MS = 10_000

/**
 * The folder of the page's own files in the asset bucket. Every other key begins with a tenant id, which never contains
 * `~`.
 */
export const PAGE_FILES_FOLDER = "~page"
