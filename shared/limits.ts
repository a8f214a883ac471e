/**
 * limits.ts: the limits that are part of the specification or shared by several files, each with its unit and reason.
 *
 * A limit that concerns a single file, such as the number of bars in a chart, is defined in that file. The time limits
 * that tests may shorten are read through worker/platform/time-limits.ts.
 */

// ── Ids and names ──

/** Maximum length of a public id, in characters. Ids match `[A-Za-z0-9_-]{1,64}`. */
export const MAX_ID_CHARS = 64

/** Maximum length of a session title, in UTF-16 code units: two lines of the session list. */
export const MAX_TITLE_CHARS = 120

/** Maximum length of a stored tool name, in UTF-16 code units. */
export const MAX_TOOL_NAME_CHARS = 64

/** Maximum length of an asset's label, in UTF-16 code units: enough for nearly every file name, short enough to display. SPEC AS6. */
export const MAX_LABEL_CHARS = 120

// ── WebSocket ──

/** Version of the wire protocol. The server also accepts the previous version (SPEC WS1). A change to a frame or event needs a new version (SPEC WS11). */
export const PROTOCOL_VERSION = 4

/** Maximum size of a client's frame, in UTF-8 bytes: four times the longest message, and far below the platform's 32 MiB. SPEC WS4. */
export const MAX_CLIENT_FRAME_BYTES = 256 * 1024

/** Maximum size of a server's frame, in UTF-8 bytes. A larger message is sent as a header and ops frames. SPEC WS5. */
export const MAX_SERVER_FRAME_BYTES = 256 * 1024

/** Size of the replay buffer, in frames and in bytes. The buffer keeps the newest frames in memory for clients that reconnect. Older frames are rebuilt from the store. SPEC WS7. */
export const REPLAY_FRAMES = 512
export const REPLAY_BYTES = 1024 * 1024

/** Maximum number of messages that a resume sends whole. A client that missed more loads the history. SPEC WS7. */
export const MAX_RESUME_MESSAGES = 120

/** Maximum number of late changes to older messages that are stored for resumes. A client that missed this many loads the history. SPEC HI5. */
export const MAX_LATE_CHANGES = 256

/** A client confirms receipt (`seen`) after at most this many frames or bytes. */
export const SEEN_EVERY_FRAMES = 64
export const SEEN_EVERY_BYTES = 1024 * 1024

/** Maximum number of unconfirmed bytes. Beyond it, the socket is closed, because the runtime buffers these bytes in memory. SPEC WS12. */
export const MAX_UNSEEN_BYTES = 8 * 1024 * 1024

/** Interval of a client's pings, in milliseconds. The platform answers pings without waking the object. */
export const PING_MS = 20_000

/** Time without incoming data after which a client considers its socket dead, in milliseconds. */
export const DEAD_SOCKET_MS = 45_000

// ── HTTP ──

/** Maximum size of a JSON request body, in bytes: the longest message with every character escaped, plus some headroom. */
export const MAX_BODY_BYTES = 512 * 1024

/** Number of messages per page of history: the default and the maximum. */
export const DEFAULT_PAGE_MESSAGES = 12
export const MAX_PAGE_MESSAGES = 120

/** Maximum size of a page of history, in UTF-8 bytes. A page has at least one message, even if that message is larger. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** Number of sessions per page of the directory. SPEC DI6. */
export const MAX_SESSIONS_LISTED = 100

/** Maximum number of users with whom a session can be shared. Each title change is sent to the directories of all these users. SPEC SH6. */
export const MAX_SESSION_VIEWERS = 100

/** Maximum number of sessions that one user can share with another. The limit bounds what a user can add to somebody else's list. SPEC SH6. */
export const MAX_SHARED_BY_OWNER = 1_000

// ── Tokens ──

/** Minimum length of a secret that signs tokens, in UTF-8 bytes. HS256 needs 32. SPEC AU3. */
export const MIN_SECRET_BYTES = 32

/** Lifetime of a token issued with `AUTH=dev`, in seconds. */
export const DEV_TOKEN_SECONDS = 60 * 60

/** Lifetime of a token that an API key creates for a user, in seconds: the default is long enough for a page to request the next one. SPEC AK9. */
export const USER_TOKEN_SECONDS = 10 * 60
export const MAX_USER_TOKEN_SECONDS = 24 * 60 * 60

/** How long the Worker relies on a token's last revocation check, in milliseconds. SPEC AU7. */
export const TOKEN_TRUST_MS = 30_000

/** Lifetime of a token that `/auth/token` issues to the page, in seconds. SPEC SI5. */
export const PAGE_TOKEN_SECONDS = 10 * 60

/** Maximum time from `/auth/login` to `/auth/callback`, in milliseconds: enough for a person to sign in, perhaps with a second factor. SPEC SI2. */
export const SIGN_IN_MS = 10 * 60_000

/** A sign-in ends after LOGIN_IDLE_MS without use, and after LOGIN_MS in any case, in milliseconds. SPEC SI6. */
export const LOGIN_IDLE_MS = 30 * 24 * 60 * 60_000
export const LOGIN_MS = 90 * 24 * 60 * 60_000

/** A sign-in whose role comes from the provider ends after this time, in milliseconds, so that the role is read again. SPEC US13. */
export const CLAIMED_ROLE_MS = 24 * 60 * 60_000

/** How long the previous secret of a sign-in is accepted, in milliseconds, in case two tabs use it or a response was lost. SPEC SI7. */
export const LOGIN_OVERLAP_MS = 60_000

/** Maximum wait for an OpenID provider's response, in milliseconds. SPEC OI4. */
export const PROVIDER_MS = 5_000

/** Maximum length of an OpenID provider's token, in characters: four times the length of a large token that lists groups. */
export const MAX_FOREIGN_TOKEN_CHARS = 16 * 1024

/** A provider's keys are fetched at most once in this time, in milliseconds, whatever key ids the tokens contain. SPEC OI6. */
export const ISSUER_KEYS_COOLDOWN_MS = 30_000

/** Minimum interval at which an isolate asks the tenant's object about unknown key ids, in milliseconds. SPEC OI6. */
export const UNKNOWN_KEY_MS = 5_000

/** Fetched keys are refreshed after this time, in milliseconds, so that a key that the provider has withdrawn stops working. SPEC OI7. */
export const ISSUER_KEYS_FRESH_MS = 10 * 60_000

/**
 * While a provider cannot be reached, its keys are trusted for ISSUER_KEYS_TRUST_MS after the first failed attempt, but
 * at most for MAX_ISSUER_KEYS_AGE_MS after they were fetched. SPEC OI7.
 */
export const ISSUER_KEYS_TRUST_MS = 60 * 60_000
export const MAX_ISSUER_KEYS_AGE_MS = 24 * 60 * 60_000

/** A provider's token expires this many seconds after it was issued, even if its `exp` is later. SPEC OI12. */
export const MAX_FOREIGN_TOKEN_SECONDS = 24 * 60 * 60

/** Lifetime of a producer's token, in seconds: the default is a working day, the maximum a week. SPEC AU11. */
export const EXTERNAL_TOKEN_SECONDS = 8 * 60 * 60
export const MAX_EXTERNAL_TOKEN_SECONDS = 7 * 24 * 60 * 60

// ── Usage ──

/** How long a user's directory delays a usage batch that no budget needs or that could not be sent, in milliseconds. SPEC MT6. */
export const USAGE_WAIT_MS = 15 * 60_000

/** Maximum random addition to USAGE_WAIT_MS, in milliseconds, so that users who arrive together do not report together. SPEC MT6. */
export const USAGE_SPREAD_MS = 60 * 60_000

/** Interval at which a session repeats a usage report that its user's directory did not accept, in milliseconds. SPEC MT5. */
export const USAGE_RETRY_MS = 60_000

// ── Messages ──

/** Maximum length of a user message, in UTF-8 bytes. A message fits into one frame unless most of it is control characters. SPEC WS4. */
export const MAX_MESSAGE_BYTES = 64 * 1024

/** Maximum number of attachments per message. Each of them uses part of the model's context. SPEC AT2. */
export const MAX_ATTACHMENTS = 10

/** Maximum number of messages queued behind a running turn. Only a faulty client sends more. SPEC TU3. */
export const MAX_QUEUED_MESSAGES = 8

// ── Model text ──

/** Maximum length of a construct in model text (tag, code, comment) that is held until it is complete, in UTF-16 code units. A longer one counts as text. SPEC CL8. */
export const MAX_PENDING_CHARS = 4096

/** Maximum length of a URL, and so of a `MEDIA:` line's value, in UTF-16 code units. SPEC PU1, DR2. */
export const MAX_URL_CHARS = 4096

/** Maximum length of a `MEDIA:` line that is held until it ends, in UTF-16 code units: one URL of maximum length with text around it. SPEC DR2. */
export const MAX_MEDIA_LINE_CHARS = 2 * MAX_URL_CHARS

/** Maximum number of assets, messages and origins that the directives of one part may name. Each name needs a lookup, and every batch of deltas writes the grants again. SPEC DR17. */
export const MAX_GRANT_NAMES = 100

/** Minimum and maximum height of an embed, in CSS pixels. A smaller height is ignored, a larger one is reduced. SPEC DR6. */
export const MIN_EMBED_HEIGHT = 160
export const MAX_EMBED_HEIGHT = 1_200

/** Maximum length of a host name, in characters without a final dot: the limit of DNS. SPEC PU2, SE2. */
export const MAX_HOST_CHARS = 253

// ── Storage of text ──

/** Maximum length of a stored chunk of a text part, in UTF-16 code units: the most that one delta rewrites. SPEC ST4. */
export const MAX_TEXT_CHUNK_CHARS = 4096

// ── Tool calls ──

/** Maximum length of a call's stored arguments, in UTF-16 code units. If they are longer, the call fails. SPEC TU7. */
export const MAX_ARGS_CHARS = 128 * 1024

/** Maximum length of a tool's stored output, in UTF-16 code units. The rest is dropped. SPEC TU7. */
export const MAX_OUTPUT_CHARS = 256 * 1024

/** Maximum size of a stored result, in UTF-8 bytes: below the platform's limit of 2 MB per row. If it is larger, the call fails. SPEC TU7. */
export const MAX_RESULT_BYTES = 1_500_000

/** Maximum length of a call's stored error message, in UTF-16 code units. It is shown on one line. */
export const MAX_ERROR_CHARS = 500

/** Maximum size of a card's payload, in UTF-8 bytes: it is sent to every tab in one frame. A larger result is shown as tool output. SPEC SG6. */
export const MAX_CARD_BYTES = 64 * 1024

/** Maximum amount of a result, an output or arguments that is shown, in UTF-8 bytes and in lines. The store keeps all of it. SPEC SG9. */
export const MAX_SHOWN_BYTES = 50 * 1024
export const MAX_SHOWN_LINES = 2000

/** Maximum duration of a tool run, in milliseconds. */
export const TOOL_MS = 60_000

/** Maximum wait for the user's approval, in milliseconds. After that, the call is denied. */
export const APPROVAL_MS = 7 * 24 * 60 * 60_000

/** Maximum wait for a weather service, in milliseconds: a user is waiting. SPEC TO6. */
export const WEATHER_MS = 5_000

/** Age up to which a cached weather reading is used without a new request, in milliseconds. SPEC TO9. */
export const WEATHER_FRESH_MS = 10 * 60_000

/** Age up to which a cached weather reading is used if the weather service fails, in milliseconds. SPEC TO9. */
export const WEATHER_STALE_MS = 24 * 60 * 60_000

// ── Turns ──

/** Maximum number of model calls per turn: enough for long research, but stops endless loops. */
export const MAX_STEPS = 24

/** Maximum number of tool calls that one model call may request. The rest are refused. */
export const MAX_CALLS_PER_STEP = 32

/** Maximum duration of a turn, in milliseconds. */
export const TURN_MS = 10 * 60_000

/** Maximum length of the model's output in a turn, including thinking and arguments, in UTF-16 code units: a long chapter of a book. SPEC TU13. */
export const MAX_ANSWER_CHARS = 1_000_000

/** Interval of a session's alarm while a turn is running, in milliseconds. The alarm resumes the turn if the process was killed. */
export const TURN_ALARM_MS = 20_000

// ── Model calls ──

/** Maximum wait for the start of a model's response, in milliseconds. */
export const MODEL_FIRST_BYTE_MS = 60_000

/** Maximum pause within a model's response, in milliseconds. */
export const MODEL_IDLE_MS = 60_000

/** How many times a temporary failure of the model (429, 5xx) is retried, if the response has not begun. SPEC MO12. */
export const MODEL_RETRIES = 2

/** Delay before the first retry, in milliseconds. It doubles with each retry, and half of it is random. SPEC MO12. */
export const MODEL_RETRY_MS = 500

/** Maximum `Retry-After` that is respected, in milliseconds: a user is waiting. A longer one ends the turn at once. SPEC MO12. */
export const MAX_RETRY_AFTER_MS = 20_000

/** Maximum input of one model call, in tokens, estimated at four code units each. */
export const MODEL_CONTEXT_TOKENS = 32_000

/** Share of MODEL_CONTEXT_TOKENS above which older turns are summarised. SPEC TU9. */
export const SUMMARY_START_SHARE = 0.75

/** Share of MODEL_CONTEXT_TOKENS that the newest turns may fill without being summarised. SPEC TU9. */
export const SUMMARY_KEEP_SHARE = 0.25

/** Maximum length of a summary of older turns, in UTF-16 code units: a few hundred words. SPEC TU9. */
export const MAX_SUMMARY_CHARS = 6_000

/** Maximum amount of a quoted message that the model receives, in UTF-16 code units: a paragraph. SPEC AT6. */
export const MAX_QUOTE_CHARS = 600

// ── Files in a model call ──

/**
 * Maximum total size of the files in one model call, in bytes. Memory holds about four copies of a file (its bytes,
 * base64, JSON, request body), and the object has 128 MB for everything. SPEC AT7.
 */
export const MAX_MODEL_FILE_BYTES = 8 * 1024 * 1024

/** Maximum amount of a text file that is sent to the model, in bytes: less than half of the default context. SPEC AT5. */
export const MAX_MODEL_TEXT_BYTES = 48 * 1024

/** Share of the context that the attachments of the current question may use. The rest is for results and the answer. SPEC AT5. */
export const MAX_FILES_SHARE = 0.5

/** Estimated tokens per image: what the larger providers bill for a large image. The providers themselves scale images down. SPEC AT5. */
export const IMAGE_TOKENS = 1_600

/** For estimating the tokens of a PDF: bytes per token, and the minimum number of tokens. A page has about 2,000 tokens and 25 KB or more. SPEC AT7. */
export const PDF_BYTES_PER_TOKEN = 12
export const MIN_DOCUMENT_TOKENS = 2_000

/** Bytes of audio per token: 32 tokens per second at 64 kbit/s. SPEC AT7. */
export const AUDIO_BYTES_PER_TOKEN = 250

/** Bytes of video per token: 300 tokens per second at 2 Mbit/s. SPEC AT7. */
export const VIDEO_BYTES_PER_TOKEN = 800

// ── Agents ──

/** Maximum number of agents per tenant, including the default ones. SPEC AG1. */
export const MAX_AGENTS = 32

/** Maximum length of an agent's prompt, in UTF-16 code units: about four thousand tokens. SPEC AG1. */
export const MAX_AGENT_PROMPT_CHARS = 16 * 1024

/** Maximum length of a chain of agents that ask each other without a user message in between. SPEC AG5. */
export const MAX_AGENT_DEPTH = 8

/** Maximum number of questions between agents that one user message may cause, at any depth. A single turn can ask eight. SPEC AG11. */
export const MAX_AGENT_QUESTIONS = 256

/** Maximum wait for another agent's answer, in milliseconds: half of TURN_MS, and halved again with each level of nesting. */
export const AGENT_ANSWER_MS = 5 * 60_000

/** Maximum wait for an asynchronous answer, in milliseconds. After that, the call fails. SPEC AG4. */
export const AGENT_CALLBACK_MS = 24 * 60 * 60_000

/** Maximum amount of an agent's answer that the asking agent receives, in UTF-16 code units. */
export const MAX_AGENT_ANSWER_CHARS = 64 * 1024

/** Delay before a failed request to an agent's session is retried, in milliseconds. */
export const AGENT_RETRY_MS = 500

// ── External producers ──

/** Time without data after which a producer counts as gone, in milliseconds. The promised maximum is a minute, and a timer, or the alarm after a restart, may be a few seconds late. SPEC EX8. */
export const PRODUCER_SILENCE_MS = 50_000

/** Minimum interval at which a producer's deadline is extended in the store, in milliseconds: each extension writes a row. SPEC EX14. */
export const PRODUCER_REFRESH_MS = 10_000

/** Maximum duration of an external answer, in milliseconds: coding agents work for hours. */
export const PRODUCER_TURN_MS = 4 * 60 * 60_000

/** Maximum length of a producer's record, in bytes: the largest stored result, escaped twice. SPEC EX10. */
export const MAX_RECORD_BYTES = 4 * 1024 * 1024

/** Maximum size of a producer's request body, in bytes: more than the largest possible answer, plus the empty lines that keep a silent producer connected for hours. SPEC EX22. */
export const MAX_EXTERNAL_BODY_BYTES = 256 * 1024 * 1024

/** Maximum number of parts (thinking, text, calls) per external answer. Each part makes every batch of deltas more expensive. SPEC EX21. */
export const MAX_EXTERNAL_PARTS = 4_000

/** Maximum number of tool calls per external answer: more than a model's turn can make (MAX_STEPS × MAX_CALLS_PER_STEP). SPEC EX21. */
export const MAX_EXTERNAL_CALLS = 1_000

/** Maximum total length of the results and tool output of an external or imported answer, in UTF-16 code units: the whole answer is in memory at once. The rest is dropped. SPEC EX20, RE36. */
export const MAX_EXTERNAL_DATA_CHARS = 16 * 1024 * 1024

// ── Import and export ──

/** Maximum size of an uploaded file or of one of its parts, in bytes, both compressed and uncompressed. SPEC RE6. */
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024

/** Maximum number of parts per upload: 4 GB of text, well below what the platform stores for one object. SPEC RE20. */
export const MAX_IMPORT_PARTS = 64

/** Maximum wait for the next part of an upload, in milliseconds. Messages that are sent in the meantime are queued. SPEC RE31. */
export const IMPORT_STAGING_MS = 5 * 60_000

/** Maximum pause within an upload, in milliseconds. Messages that are sent in the meantime are queued. SPEC RE34. */
export const IMPORT_IDLE_MS = 30_000

/** Maximum time to upload a file or one part, in milliseconds: the largest part at 1 Mbit/s. SPEC RE40. */
export const IMPORT_UPLOAD_MS = 10 * 60_000

/** Maximum time from the first part of a file to the last, in milliseconds: the largest file at 20 Mbit/s. SPEC RE40. */
export const IMPORT_TOTAL_MS = 30 * 60_000

/** How long the response to an upload waits for the records to be folded, in milliseconds: less than the time limit of common proxies. After that, the client polls. SPEC RE33. */
export const IMPORT_RESPONSE_MS = 20_000

/** Maximum length of a line in an uploaded file, in bytes. Even a result of control characters, each escaped to six bytes, fits. SPEC RE43. */
export const MAX_IMPORT_LINE_BYTES = 6 * MAX_RESULT_BYTES + MAX_BODY_BYTES

/** Maximum number of skipped lines that are reported individually. The others are only counted. */
export const MAX_BAD_LINES = 100

/** Maximum number of tool calls and of parts per imported answer: folding searches all of them for each event. The rest are dropped. SPEC RE36. */
export const MAX_IMPORTED_CALLS = 2_000
export const MAX_IMPORTED_PARTS = 8_000

/** Maximum number of calls in an imported file that are waiting for an asynchronous answer. If there are more, the oldest are dropped. SPEC RE12. */
export const MAX_IMPORTED_PENDING_CALLS = 1_000

/** Highest position or version number of a record: far beyond any session, and small enough to stay an exact integer. */
export const MAX_RECORD_POS = 2 ** 40

/** Highest step number in a record: one event is created for each step that a record skips. */
export const MAX_RECORD_STEP = 10_000

// ── Requests and sockets ──

/** Maximum time for a JSON body to arrive, in milliseconds: the largest body at 256 kbit/s, plus some headroom. SPEC RT12. */
export const BODY_MS = 20_000

/** Maximum wait for a socket's `hello`, in milliseconds: a client sends it at once. SPEC AU15. */
export const HELLO_MS = 30_000

/** Maximum time until a new socket is registered with its user's directory, in milliseconds. SPEC AU19. */
export const SOCKET_REGISTER_MS = 5_000
