/**
 * limits.ts: all limits, grouped by area, each with its unit and its reason.
 *
 * A limit that belongs to one tool only, such as the number of bars of a chart, is defined in that tool. The time limits
 * that a deployment may shorten are read through worker/platform/time-limits.ts.
 */

// ── Ids and names ──

/** Longest public id, in characters. Ids match `[A-Za-z0-9_-]{1,64}`. */
export const MAX_ID_CHARS = 64

/** Longest session title, in UTF-16 code units: two lines of the session list. */
export const MAX_TITLE_CHARS = 120

/** Longest stored tool name, in UTF-16 code units. */
export const MAX_TOOL_NAME_CHARS = 64

/** Longest file name, in UTF-16 code units. Common file systems allow 255 bytes. SPEC AS6. */
export const MAX_LABEL_CHARS = 120

// ── WebSocket ──

/** Version of the wire protocol. The server also accepts the version before it (SPEC WS1). A changed frame or event needs a new version (SPEC WS11). */
export const PROTOCOL_VERSION = 3

/** Largest frame that a client may send, in UTF-8 bytes: four of the longest messages, and far below the platform's 32 MiB. SPEC WS4. */
export const MAX_CLIENT_FRAME_BYTES = 256 * 1024

/** Largest frame that the server sends, in UTF-8 bytes. A larger message is sent as a header and ops frames. SPEC WS5. */
export const MAX_SERVER_FRAME_BYTES = 256 * 1024

/** Recent frames that are kept in memory for clients that reconnect: their number, and their bytes. Older ones are rebuilt from the store. SPEC WS7. */
export const REPLAY_FRAMES = 512
export const REPLAY_BYTES = 1024 * 1024

/** Most messages that a resume sends whole. A client that missed more reads history. SPEC WS7. */
export const MAX_RESUME_MESSAGES = 120

/** Late changes to older messages that are remembered for resumes. With more changes the client reads history. SPEC HI5. */
export const MAX_LATE_CHANGES = 256

/** A client confirms receipt (`seen`) at least every so many frames, and every so many bytes. */
export const SEEN_EVERY_FRAMES = 64
export const SEEN_EVERY_BYTES = 1024 * 1024

/** Unconfirmed bytes at which a socket is closed: the runtime buffers them in memory. SPEC WS12. */
export const MAX_UNSEEN_BYTES = 8 * 1024 * 1024

/** Interval of a client's pings, in milliseconds. The platform answers them without waking the object. */
export const PING_MS = 20_000

/** Silence after which a client considers its socket dead, in milliseconds. */
export const DEAD_SOCKET_MS = 45_000

// ── HTTP ──

/** Largest body of a JSON request, in bytes: the longest message with every character escaped, and some room. */
export const MAX_BODY_BYTES = 512 * 1024

/** Messages in a page of history: the default, and the most. */
export const DEFAULT_PAGE_MESSAGES = 12
export const MAX_PAGE_MESSAGES = 120

/** Largest page of history, in UTF-8 bytes. A page has at least one message, however large. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** Most sessions in one response of the directory. */
export const MAX_SESSIONS_LISTED = 200

// ── Tokens ──

/** Shortest secret that signs tokens, in UTF-8 bytes. HS256 needs 32. SPEC AU3. */
export const MIN_SECRET_BYTES = 32

/** Lifetime of a token issued with `AUTH=dev`, in seconds. */
export const DEV_TOKEN_SECONDS = 60 * 60

/** How long the Worker relies on the revocation check of a token, in milliseconds. SPEC AU7. */
export const TOKEN_TRUST_MS = 30_000

/** Lifetime of a producer's token, in seconds: the default is a working day, the longest a week. SPEC AU11. */
export const EXTERNAL_TOKEN_SECONDS = 8 * 60 * 60
export const MAX_EXTERNAL_TOKEN_SECONDS = 7 * 24 * 60 * 60

// ── Messages ──

/** Longest user message, in UTF-8 bytes. It fits into one frame unless most of it is control characters. SPEC WS4. */
export const MAX_MESSAGE_BYTES = 64 * 1024

/** Most attachments of a message. Each of them uses part of the model's context. SPEC AT2. */
export const MAX_ATTACHMENTS = 10

/** Messages that may be queued behind a running turn. More come from a faulty client. SPEC TU3. */
export const MAX_QUEUED_MESSAGES = 8

// ── Model text ──

/** Longest construct of model text (tag, code, comment) that is held until it is complete, in UTF-16 code units. A longer one is text. SPEC CL8. */
export const MAX_PENDING_CHARS = 4096

/** Longest URL, in UTF-16 code units, and so the longest value of a `MEDIA:` line. SPEC PU1, DR2. */
export const MAX_URL_CHARS = 4096

/** Longest `MEDIA:` line that is held until it ends, in UTF-16 code units: one URL of the longest kind with text around it. SPEC DR2. */
export const MAX_MEDIA_LINE_CHARS = 2 * MAX_URL_CHARS

/** Most assets, messages and origins that the directives of one part may refer to. Each needs a lookup, and the grants are written again with every window. SPEC DR11. */
export const MAX_GRANT_NAMES = 100

/** Height of an embed, in CSS pixels. A smaller one is ignored, a larger one is reduced. SPEC DR6. */
export const MIN_EMBED_HEIGHT = 160
export const MAX_EMBED_HEIGHT = 1_200

/** Longest host name, in characters without a final dot: the limit of DNS. SPEC PU2, SE2. */
export const MAX_HOST_CHARS = 253

// ── Storage of text ──

/**
 * Time for which deltas are gathered before they are written and sent, in milliseconds: too short to notice, and few
 * rows. The promised maximum is 150; timers are a few milliseconds late. SPEC ST3.
 */
export const DELTA_WINDOW_MS = 146

/** Gathered text that is written at once, in UTF-16 code units: one chunk. SPEC ST3. */
export const DELTA_WINDOW_CHARS = 4096

/** Largest stored chunk of a text part, in UTF-16 code units: what a delta rewrites at most. SPEC ST4. */
export const MAX_TEXT_CHUNK_CHARS = 4096

// ── Tool calls ──

/** Longest stored arguments of a call, in UTF-16 code units. With longer ones the call fails. SPEC TU7. */
export const MAX_ARGS_CHARS = 128 * 1024

/** Most stored output of a running tool, in UTF-16 code units. The rest is dropped. SPEC TU7. */
export const MAX_OUTPUT_CHARS = 256 * 1024

/** Largest stored result, in UTF-8 bytes: below the platform's 2 MB per row. With a larger one the call fails. SPEC TU7. */
export const MAX_RESULT_BYTES = 1_500_000

/** Longest stored error message of a call, in UTF-16 code units. It is shown on one line. */
export const MAX_ERROR_CHARS = 500

/** Largest payload of a card, in UTF-8 bytes: it is sent to every tab in one frame. A larger result is shown as tool output. SPEC SG6. */
export const MAX_CARD_BYTES = 64 * 1024

/** How much of a result, output or arguments is shown, in UTF-8 bytes and in lines. All of it is stored. SPEC SG9. */
export const MAX_SHOWN_BYTES = 50 * 1024
export const MAX_SHOWN_LINES = 2000

/** Longest run of a tool, in milliseconds. */
export const TOOL_MS = 60_000

/** Longest wait for the user's approval, in milliseconds. After that the call is denied. */
export const APPROVAL_MS = 7 * 24 * 60 * 60_000

/** Longest wait for a weather service, in milliseconds: a user is waiting. SPEC TO6. */
export const WEATHER_MS = 5_000

/** Age up to which a cached weather reading is used, in milliseconds: without a request, and if the service fails. */
export const WEATHER_FRESH_MS = 10 * 60_000
export const WEATHER_STALE_MS = 24 * 60 * 60_000

// ── Turns ──

/** Most model calls in a turn: enough for long research, and an end to endless loops. */
export const MAX_STEPS = 24

/** Most tool calls of one model call. The rest are refused. */
export const MAX_CALLS_PER_STEP = 32

/** Longest turn, in milliseconds. */
export const TURN_MS = 10 * 60_000

/** Longest output of the model in a turn, thinking and arguments included, in UTF-16 code units: a long chapter of a book. SPEC TU13. */
export const MAX_ANSWER_CHARS = 1_000_000

/** Interval of the alarm of an object with a running turn, in milliseconds. It resumes the turn if the process was killed. */
export const TURN_ALARM_MS = 20_000

// ── Model calls ──

/** Longest wait for the start of a model's response, in milliseconds. */
export const MODEL_FIRST_BYTE_MS = 60_000

/** Longest silence within a model's response, in milliseconds. */
export const MODEL_IDLE_MS = 60_000

/** How often a temporary failure of the model (429, 5xx) is retried, if the response has not begun. SPEC MO12. */
export const MODEL_RETRIES = 2

/** Delay before the first retry, in milliseconds. It doubles with each retry, and half of it is random. SPEC MO12. */
export const MODEL_RETRY_MS = 500

/** Longest `Retry-After` that is followed, in milliseconds: a user is waiting. A longer one ends the turn at once. SPEC MO12. */
export const MAX_RETRY_AFTER_MS = 20_000

/** Text in one model call, in tokens, estimated at four code units each. */
export const MODEL_CONTEXT_TOKENS = 32_000

/** Shares of MODEL_CONTEXT_TOKENS: from the first on, older turns are summarised; the newest turns keep the second. SPEC TU9. */
export const SUMMARY_START_SHARE = 0.75
export const SUMMARY_KEEP_SHARE = 0.25

/** Longest summary of older turns, in UTF-16 code units: a few hundred words. SPEC TU9. */
export const MAX_SUMMARY_CHARS = 6_000

/** How much of a message is quoted to the model in a reply to it, in UTF-16 code units: a paragraph. SPEC AT6. */
export const MAX_QUOTE_CHARS = 600

// ── Files in a model call ──

/**
 * Bytes of files that are loaded for one model call, newest first. Each byte is in memory about four times (base64, JSON,
 * request), and a Worker has 128 MB. SPEC AT7.
 */
export const MAX_MODEL_FILE_BYTES = 8 * 1024 * 1024

/** How much of a text file is sent to the model, in bytes: half of the default model's context. SPEC AT5. */
export const MAX_MODEL_TEXT_BYTES = 48 * 1024

/** Share of the context that the attachments of the current question may use. The rest is for results and the answer. SPEC AT5. */
export const MAX_FILES_SHARE = 0.5

/** Estimated tokens of an image: what the larger providers bill for a large one. They scale images down themselves. SPEC AT5. */
export const IMAGE_TOKENS = 1_600

/** Estimated size of a PDF: bytes per token, and the least tokens. A page has about 2,000 tokens and 25 KB or more. SPEC AT7. */
export const PDF_BYTES_PER_TOKEN = 12
export const MIN_DOCUMENT_TOKENS = 2_000

/** Bytes of audio per token: 32 tokens a second at 64 kbit/s. SPEC AT7. */
export const AUDIO_BYTES_PER_TOKEN = 250

/** Bytes of video per token: 300 tokens a second at 2 Mbit/s. SPEC AT7. */
export const VIDEO_BYTES_PER_TOKEN = 800

// ── Agents ──

/** Most agents of a tenant, default ones included. SPEC AG1. */
export const MAX_AGENTS = 32

/** Longest prompt of an agent, in UTF-16 code units: about four thousand tokens. SPEC AG1. */
export const MAX_AGENT_PROMPT_CHARS = 16 * 1024

/** Longest chain of agents that ask each other without a user message in between. SPEC AG5. */
export const MAX_AGENT_DEPTH = 8

/** Most questions between agents that one user message may cause, at any depth. A turn may ask eight of its own. SPEC AG11. */
export const MAX_AGENT_QUESTIONS = 256

/** Longest wait for another agent's answer, in milliseconds: half a turn, halved again with each level of nesting. */
export const AGENT_ANSWER_MS = 5 * 60_000

/** Longest wait for an asynchronous answer, in milliseconds. After that its call fails. SPEC AG4. */
export const AGENT_CALLBACK_MS = 24 * 60 * 60_000

/** How much of an agent's answer is returned to the asking agent, in UTF-16 code units. */
export const MAX_AGENT_ANSWER_CHARS = 64 * 1024

/** Delay before an agent's session is asked again after a failed request, in milliseconds. */
export const AGENT_RETRY_MS = 500

// ── External producers ──

/**
 * Silence after which a producer counts as gone, in milliseconds. The promise is a minute: a timer, or the alarm after a
 * restart, may be a few seconds late. SPEC EX8.
 */
export const PRODUCER_SILENCE_MS = 50_000

/** Shortest interval at which a producer's deadline is extended in the store, in milliseconds: each time costs a row. SPEC EX14. */
export const PRODUCER_REFRESH_MS = 10_000

/** Longest external answer, in milliseconds: coding agents work for hours. */
export const PRODUCER_TURN_MS = 4 * 60 * 60_000

/** Longest record of a producer, in bytes: the largest stored result, escaped twice. SPEC EX10. */
export const MAX_RECORD_BYTES = 4 * 1024 * 1024

/** Largest request body of a producer, in bytes: more than any answer needs, and hours of empty lines. SPEC EX22. */
export const MAX_EXTERNAL_BODY_BYTES = 256 * 1024 * 1024

/** Most parts (thinking, text, calls) of an external answer: each of them adds cost to every window. SPEC EX21. */
export const MAX_EXTERNAL_PARTS = 4_000

/** Most tool calls of an external answer: more than a turn of our own can make (MAX_STEPS × MAX_CALLS_PER_STEP). SPEC EX21. */
export const MAX_EXTERNAL_CALLS = 1_000

/** Results and output of an external answer, in UTF-16 code units: the answer is loaded whole. Later results fail. SPEC EX20. */
export const MAX_EXTERNAL_DATA_CHARS = 16 * 1024 * 1024

// ── Import and export ──

/** Largest uploaded file, or part of one, in bytes, compressed and uncompressed. SPEC RE6. */
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024

/** Most parts of an upload: 4 GB of text, well below what the platform stores for one object. SPEC RE20. */
export const MAX_IMPORT_PARTS = 64

/** How long an upload waits for its next part, in milliseconds. Messages that are sent in the meantime are queued. SPEC RE20. */
export const IMPORT_STAGING_MS = 5 * 60_000

/** Longest silence within an upload, in milliseconds. Messages that are sent in the meantime are queued. SPEC RE34. */
export const IMPORT_IDLE_MS = 30_000

/** How long the response to an upload waits for folding, in milliseconds: less than proxies wait. After that the client polls. SPEC RE21. */
export const IMPORT_RESPONSE_MS = 20_000

/** Longest line of an uploaded file, in bytes: the largest stored result, escaped twice. */
export const MAX_IMPORT_LINE_BYTES = 4 * 1024 * 1024

/** Skipped lines that are reported one by one. The others are only counted. */
export const MAX_BAD_LINES = 100

/** Largest staged record, in UTF-8 bytes: the platform's limit for a row. SPEC RE36. */
export const MAX_STAGED_BYTES = 2_000_000

/** Most tool calls and parts of an imported answer: folding searches them for each event. The rest are dropped. SPEC RE36. */
export const MAX_IMPORTED_CALLS = 2_000
export const MAX_IMPORTED_PARTS = 8_000

/** Most calls of an imported file that wait for an asynchronous answer at a time. Beyond that the oldest are forgotten. SPEC RE12. */
export const MAX_IMPORTED_PENDING_CALLS = 1_000

/** Highest position or version number of a record: far beyond any session, and small enough to stay an exact integer. */
export const MAX_RECORD_POS = 2 ** 40

/** Highest step number of a record: steps are counted one by one. */
export const MAX_RECORD_STEP = 10_000

// ── Assets ──

/** Largest stored file by type, in bytes: what a page can show and a model accepts. SPEC AS3. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024
export const MAX_AUDIO_BYTES = 25 * 1024 * 1024
export const MAX_VIDEO_BYTES = 100 * 1024 * 1024
export const MAX_PDF_BYTES = 32 * 1024 * 1024
export const MAX_TEXT_BYTES = 10 * 1024 * 1024

/** Largest canvas document, in bytes: a page with its scripts and images inline. SPEC AS11. */
export const MAX_CANVAS_BYTES = 512 * 1024

/** Files of a session: their number, and their bytes. Running uploads count. SPEC AS4. */
export const MAX_SESSION_ASSETS = 500
export const MAX_SESSION_ASSET_BYTES = 1024 * 1024 * 1024

/** Bytes at the start of a file from which its type is detected: enough for every accepted format. SPEC AS2. */
export const FILE_TYPE_BYTES = 4096

/** Bytes at the start of an image that are searched for its size: a photo's preview and colour profile precede it. SPEC AS2. */
export const IMAGE_SIZE_BYTES = 128 * 1024

/** Longest side of an image that is recorded, in pixels: the largest that all image formats can express. SPEC AS15. */
export const MAX_SIDE = 65_535

/** Longest upload of an asset, in milliseconds: the largest video at 1 Mbit/s. SPEC AS7. */
export const MAX_UPLOAD_MS = 15 * 60_000

/** Age at which an unfinished upload is discarded, in milliseconds: twice the longest upload. SPEC AS7. */
export const ASSET_PENDING_MS = 2 * MAX_UPLOAD_MS

/** Most URLs in one signing request: what a page of history shows. SPEC MS1. */
export const MAX_SIGNED_URLS = 100

/** Longest validity of a signed link, in seconds. After that the page requests a new one. SPEC MS2. */
export const SIGNED_URL_SECONDS = 60 * 60

/** Within this interval, in seconds, a URL is signed alike, so that browsers can cache the link. SPEC MS2. */
export const SIGNED_URL_STEP_SECONDS = 5 * 60

// ── Remote media and tenant settings ──

/** Most redirects of remote media: one to `www`, one to a mirror, and some room. SPEC RM5. */
export const MAX_REMOTE_REDIRECTS = 4

/** Longest wait for remote media, in milliseconds: for the first bytes, redirects included, and for the whole file. SPEC RM3. */
export const REMOTE_FIRST_BYTE_MS = 15_000
export const REMOTE_MS = 5 * 60_000

/** Largest remote file that is cached, in bytes: it may be in memory as a whole. SPEC RM4. */
export const MAX_REMOTE_CACHED_BYTES = 16 * 1024 * 1024

/** How long remote media is cached, in seconds: while a user reads one conversation. SPEC RM4. */
export const REMOTE_FRESH_SECONDS = 60 * 60

/** Most origins that a tenant allows in frames: they are listed in a header, whose size proxies limit. SPEC SE2. */
export const MAX_EMBED_ORIGINS = 32

/** Most hosts whose media a tenant loads without a click: every session stores the list. SPEC SE2. */
export const MAX_MEDIA_HOSTS = 100

/** How long the Worker caches a tenant's settings for the page's policy, in milliseconds. SPEC HD2. */
export const SETTINGS_FRESH_MS = 10_000
