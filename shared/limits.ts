/**
 * limits.ts: the limits that are part of the specification or shared by several files, each with its unit and reason.
 *
 * A limit that concerns a single file, such as the number of bars of a chart, is defined in that file. The time limits
 * that tests may shorten are read through worker/platform/time-limits.ts.
 */

// ── Ids and names ──

/** Longest public id, in characters. Ids match `[A-Za-z0-9_-]{1,64}`. */
export const MAX_ID_CHARS = 64

/** Longest session title, in UTF-16 code units: two lines of the session list. */
export const MAX_TITLE_CHARS = 120

/** Longest stored tool name, in UTF-16 code units. */
export const MAX_TOOL_NAME_CHARS = 64

/** Longest label of an asset, in UTF-16 code units: long enough for nearly every file name, short enough to display. SPEC AS6. */
export const MAX_LABEL_CHARS = 120

// ── WebSocket ──

/** Version of the wire protocol. The server also accepts the version before it (SPEC WS1). A changed frame or event needs a new version (SPEC WS11). */
export const PROTOCOL_VERSION = 4

/** Largest frame that a client may send, in UTF-8 bytes: four of the longest messages, and far below the platform's 32 MiB. SPEC WS4. */
export const MAX_CLIENT_FRAME_BYTES = 256 * 1024

/** Largest frame that the server sends, in UTF-8 bytes. A larger message is sent as a header and ops frames. SPEC WS5. */
export const MAX_SERVER_FRAME_BYTES = 256 * 1024

/** Size of the replay buffer, in frames and in bytes. It keeps the newest frames in memory for clients that reconnect. Older ones are rebuilt from the store. SPEC WS7. */
export const REPLAY_FRAMES = 512
export const REPLAY_BYTES = 1024 * 1024

/** Maximum number of messages that a resume sends as whole messages. A client that missed more reads history. SPEC WS7. */
export const MAX_RESUME_MESSAGES = 120

/** Maximum number of late changes to older messages that are stored for resumes. A client that missed this many reads history. SPEC HI5. */
export const MAX_LATE_CHANGES = 256

/** A client confirms receipt (`seen`) after at most this many frames or bytes. */
export const SEEN_EVERY_FRAMES = 64
export const SEEN_EVERY_BYTES = 1024 * 1024

/** Maximum number of unconfirmed bytes, after which a socket is closed: the runtime buffers them in memory. SPEC WS12. */
export const MAX_UNSEEN_BYTES = 8 * 1024 * 1024

/** Interval of a client's pings, in milliseconds. The platform answers them without waking the object. */
export const PING_MS = 20_000

/** Silence after which a client considers its socket dead, in milliseconds. */
export const DEAD_SOCKET_MS = 45_000

// ── HTTP ──

/** Largest body of a JSON request, in bytes: the longest message with every character escaped, with some headroom. */
export const MAX_BODY_BYTES = 512 * 1024

/** Number of messages in a page of history: the default and the maximum. */
export const DEFAULT_PAGE_MESSAGES = 12
export const MAX_PAGE_MESSAGES = 120

/** Largest page of history, in UTF-8 bytes. A page has at least one message, even if that message is larger. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** Number of sessions in a page of the directory. SPEC DI6. */
export const MAX_SESSIONS_LISTED = 100

/** Maximum number of users with whom a session can be shared. Each change of its title is sent to all their directories. SPEC SH6. */
export const MAX_SESSION_VIEWERS = 100

/** Maximum number of sessions that one user can share with another. Limits what a user can add to somebody else's list. SPEC SH6. */
export const MAX_SHARED_BY_OWNER = 1_000

// ── Tokens ──

/** Shortest secret that signs tokens, in UTF-8 bytes. HS256 needs 32. SPEC AU3. */
export const MIN_SECRET_BYTES = 32

/** Lifetime of a token issued with `AUTH=dev`, in seconds. */
export const DEV_TOKEN_SECONDS = 60 * 60

/** Lifetime of a token that an API key made for a user, in seconds: by default long enough for a page to request the next one. SPEC AK9. */
export const USER_TOKEN_SECONDS = 10 * 60
export const MAX_USER_TOKEN_SECONDS = 24 * 60 * 60

/** How long the Worker trusts the revocation check of a token, in milliseconds. SPEC AU7. */
export const TOKEN_TRUST_MS = 30_000

/** Lifetime of a token that `/auth/token` issues to the page, in seconds. SPEC SI5. */
export const PAGE_TOKEN_SECONDS = 10 * 60

/** Longest time from `/auth/login` to `/auth/callback`, in milliseconds: a person signs in, perhaps with a second factor. SPEC SI2. */
export const SIGN_IN_MS = 10 * 60_000

/** A sign-in ends after LOGIN_IDLE_MS without use, and after LOGIN_MS in any case, in milliseconds. SPEC SI6. */
export const LOGIN_IDLE_MS = 30 * 24 * 60 * 60_000
export const LOGIN_MS = 90 * 24 * 60 * 60_000

/** A sign-in whose role comes from the provider ends after this time, in milliseconds, so that the role is read again. SPEC US13. */
export const CLAIMED_ROLE_MS = 24 * 60 * 60_000

/** How long the previous secret of a sign-in is accepted, in milliseconds: two tabs, or a lost response. SPEC SI7. */
export const LOGIN_OVERLAP_MS = 60_000

/** Longest wait for a response of an OpenID provider, in milliseconds. SPEC OI4. */
export const PROVIDER_MS = 5_000

/** Longest token of an OpenID provider, in characters: four times a large one with groups. */
export const MAX_FOREIGN_TOKEN_CHARS = 16 * 1024

/** The keys of a provider are fetched at most once in this time, in milliseconds, regardless of the key ids in tokens. SPEC OI6. */
export const ISSUER_KEYS_COOLDOWN_MS = 30_000

/** Shortest interval at which an isolate asks the tenant's object about unknown key ids, in milliseconds. SPEC OI6. */
export const UNKNOWN_KEY_MS = 5_000

/** Fetched keys are refreshed after this time, in milliseconds, so that a key that the provider withdrew stops working. SPEC OI7. */
export const ISSUER_KEYS_FRESH_MS = 10 * 60_000

/**
 * While the provider cannot be reached, its keys are trusted this long after the first failed attempt, and at most this long after they
 * were fetched, in milliseconds. SPEC OI7.
 */
export const ISSUER_KEYS_TRUST_MS = 60 * 60_000
export const MAX_ISSUER_KEYS_AGE_MS = 24 * 60 * 60_000

/** A provider's token expires this many seconds after it was issued, even if its `exp` is later. SPEC OI12. */
export const MAX_FOREIGN_TOKEN_SECONDS = 24 * 60 * 60

/** Lifetime of a producer's token, in seconds: by default a working day, at most a week. SPEC AU11. */
export const EXTERNAL_TOKEN_SECONDS = 8 * 60 * 60
export const MAX_EXTERNAL_TOKEN_SECONDS = 7 * 24 * 60 * 60

// ── Usage ──

/** How long a user's directory delays a usage batch that no budget needs or that could not be sent, in milliseconds. SPEC MT6. */
export const USAGE_WAIT_MS = 15 * 60_000

/** Largest random addition to that delay, in milliseconds: users who arrive together do not report together. SPEC MT6. */
export const USAGE_SPREAD_MS = 60 * 60_000

/** How often a session repeats a usage report that its user's directory did not accept, in milliseconds. SPEC MT5. */
export const USAGE_RETRY_MS = 60_000

// ── Messages ──

/** Longest user message, in UTF-8 bytes. It fits into one frame unless most of it is control characters. SPEC WS4. */
export const MAX_MESSAGE_BYTES = 64 * 1024

/** Maximum number of attachments of a message. Each of them uses part of the model's context. SPEC AT2. */
export const MAX_ATTACHMENTS = 10

/** Maximum number of messages queued behind a running turn. Only a faulty client sends more. SPEC TU3. */
export const MAX_QUEUED_MESSAGES = 8

// ── Model text ──

/** Longest construct of model text (tag, code, comment) that is held until it is complete, in UTF-16 code units. A longer one is treated as text. SPEC CL8. */
export const MAX_PENDING_CHARS = 4096

/** Longest URL, in UTF-16 code units, and so the longest value of a `MEDIA:` line. SPEC PU1, DR2. */
export const MAX_URL_CHARS = 4096

/** Longest `MEDIA:` line that is held until it ends, in UTF-16 code units: one URL of the longest kind with text around it. SPEC DR2. */
export const MAX_MEDIA_LINE_CHARS = 2 * MAX_URL_CHARS

/** Maximum number of assets, messages and origins that the directives of one part may name. Each needs a lookup, and the grants are written again with every batch of deltas. SPEC DR17. */
export const MAX_GRANT_NAMES = 100

/** Height of an embed, in CSS pixels. A smaller one is ignored, a larger one is reduced. SPEC DR6. */
export const MIN_EMBED_HEIGHT = 160
export const MAX_EMBED_HEIGHT = 1_200

/** Longest host name, in characters without a final dot: the limit of DNS. SPEC PU2, SE2. */
export const MAX_HOST_CHARS = 253

// ── Storage of text ──

/** Largest stored chunk of a text part, in UTF-16 code units: the most that one delta rewrites. SPEC ST4. */
export const MAX_TEXT_CHUNK_CHARS = 4096

// ── Tool calls ──

/** Longest stored arguments of a call, in UTF-16 code units. With longer ones the call fails. SPEC TU7. */
export const MAX_ARGS_CHARS = 128 * 1024

/** Maximum stored output of a tool, in UTF-16 code units. The rest is dropped. SPEC TU7. */
export const MAX_OUTPUT_CHARS = 256 * 1024

/** Largest stored result, in UTF-8 bytes: below the platform's limit of 2 MB per row. With a larger one the call fails. SPEC TU7. */
export const MAX_RESULT_BYTES = 1_500_000

/** Longest stored error message of a call, in UTF-16 code units. It is shown on one line. */
export const MAX_ERROR_CHARS = 500

/** Largest payload of a card, in UTF-8 bytes: it is sent to every tab in one frame. A larger result is shown as tool output. SPEC SG6. */
export const MAX_CARD_BYTES = 64 * 1024

/** Maximum part of a result, an output or arguments that is shown, in UTF-8 bytes and in lines. The store keeps all of it. SPEC SG9. */
export const MAX_SHOWN_BYTES = 50 * 1024
export const MAX_SHOWN_LINES = 2000

/** Longest run of a tool, in milliseconds. */
export const TOOL_MS = 60_000

/** Longest wait for the user's approval, in milliseconds. After that the call is denied. */
export const APPROVAL_MS = 7 * 24 * 60 * 60_000

/** Longest wait for a weather service, in milliseconds: a user is waiting. SPEC TO6. */
export const WEATHER_MS = 5_000

/** Age up to which a cached weather reading is used without a new request, in milliseconds. SPEC TO9. */
export const WEATHER_FRESH_MS = 10 * 60_000

/** Age up to which a cached weather reading is used if the weather service fails, in milliseconds. SPEC TO9. */
export const WEATHER_STALE_MS = 24 * 60 * 60_000

// ── Turns ──

/** Maximum number of model calls in a turn: enough for long research, but it ends endless loops. */
export const MAX_STEPS = 24

/** Maximum number of tool calls that one model call may request. The rest are refused. */
export const MAX_CALLS_PER_STEP = 32

/** Longest turn, in milliseconds. */
export const TURN_MS = 10 * 60_000

/** Longest output of the model in a turn, thinking and arguments included, in UTF-16 code units: a long chapter of a book. SPEC TU13. */
export const MAX_ANSWER_CHARS = 1_000_000

/** Interval of the alarm of a session with a running turn, in milliseconds. The alarm resumes the turn if the process was killed. */
export const TURN_ALARM_MS = 20_000

// ── Model calls ──

/** Longest wait for the start of a model's response, in milliseconds. */
export const MODEL_FIRST_BYTE_MS = 60_000

/** Longest silence within a model's response, in milliseconds. */
export const MODEL_IDLE_MS = 60_000

/** How many times a temporary failure of the model (429, 5xx) is retried, if the response has not begun. SPEC MO12. */
export const MODEL_RETRIES = 2

/** Delay before the first retry, in milliseconds. It doubles with each retry, and half of it is random. SPEC MO12. */
export const MODEL_RETRY_MS = 500

/** Longest `Retry-After` that is followed, in milliseconds: a user is waiting. A longer one ends the turn at once. SPEC MO12. */
export const MAX_RETRY_AFTER_MS = 20_000

/** Maximum input of one model call, in tokens, estimated at four code units each. */
export const MODEL_CONTEXT_TOKENS = 32_000

/** Share of MODEL_CONTEXT_TOKENS above which older turns are summarised. SPEC TU9. */
export const SUMMARY_START_SHARE = 0.75

/** Share of MODEL_CONTEXT_TOKENS that the newest turns may fill without being summarised. SPEC TU9. */
export const SUMMARY_KEEP_SHARE = 0.25

/** Longest summary of older turns, in UTF-16 code units: a few hundred words. SPEC TU9. */
export const MAX_SUMMARY_CHARS = 6_000

/** Maximum part of a message that is quoted to the model in a reply, in UTF-16 code units: a paragraph. SPEC AT6. */
export const MAX_QUOTE_CHARS = 600

// ── Files in a model call ──

/**
 * Maximum total size of the files in one model call, in bytes. A file is in memory about four times (its bytes, base64,
 * JSON, request body), and the object has 128 MB for everything. SPEC AT7.
 */
export const MAX_MODEL_FILE_BYTES = 8 * 1024 * 1024

/** Maximum part of a text file that is sent to the model, in bytes: less than half of the default context. SPEC AT5. */
export const MAX_MODEL_TEXT_BYTES = 48 * 1024

/** Share of the context that the attachments of the current question may use. The rest is for results and the answer. SPEC AT5. */
export const MAX_FILES_SHARE = 0.5

/** Estimated tokens of an image: what the larger providers bill for a large one. They scale images down themselves. SPEC AT5. */
export const IMAGE_TOKENS = 1_600

/** Estimated size of a PDF: bytes per token, and the minimum number of tokens. A page has about 2,000 tokens and 25 KB or more. SPEC AT7. */
export const PDF_BYTES_PER_TOKEN = 12
export const MIN_DOCUMENT_TOKENS = 2_000

/** Bytes of audio per token: 32 tokens a second at 64 kbit/s. SPEC AT7. */
export const AUDIO_BYTES_PER_TOKEN = 250

/** Bytes of video per token: 300 tokens a second at 2 Mbit/s. SPEC AT7. */
export const VIDEO_BYTES_PER_TOKEN = 800

// ── Agents ──

/** Maximum number of agents of a tenant, default ones included. SPEC AG1. */
export const MAX_AGENTS = 32

/** Longest prompt of an agent, in UTF-16 code units: about four thousand tokens. SPEC AG1. */
export const MAX_AGENT_PROMPT_CHARS = 16 * 1024

/** Longest chain of agents that ask each other without a user message in between. SPEC AG5. */
export const MAX_AGENT_DEPTH = 8

/** Maximum number of questions between agents that one user message may cause, at any depth. A single turn can ask eight. SPEC AG11. */
export const MAX_AGENT_QUESTIONS = 256

/** Longest wait for another agent's answer, in milliseconds: half of TURN_MS, and halved again with each level of nesting. */
export const AGENT_ANSWER_MS = 5 * 60_000

/** Longest wait for an asynchronous answer, in milliseconds. After that its call fails. SPEC AG4. */
export const AGENT_CALLBACK_MS = 24 * 60 * 60_000

/** Maximum part of an agent's answer that is returned to the asking agent, in UTF-16 code units. */
export const MAX_AGENT_ANSWER_CHARS = 64 * 1024

/** Delay before an agent's session is asked again after a failed request, in milliseconds. */
export const AGENT_RETRY_MS = 500

// ── External producers ──

/** Silence after which a producer counts as gone, in milliseconds. The promised maximum is a minute: a timer, or the alarm after a restart, may be a few seconds late. SPEC EX8. */
export const PRODUCER_SILENCE_MS = 50_000

/** Shortest interval at which a producer's deadline is extended in the store, in milliseconds: each extension writes a row. SPEC EX14. */
export const PRODUCER_REFRESH_MS = 10_000

/** Longest external answer, in milliseconds: coding agents work for hours. */
export const PRODUCER_TURN_MS = 4 * 60 * 60_000

/** Longest record of a producer, in bytes: the largest stored result, escaped twice. SPEC EX10. */
export const MAX_RECORD_BYTES = 4 * 1024 * 1024

/** Largest request body of a producer, in bytes: more than the largest possible answer, with room for the empty lines that keep a silent producer connected for hours. SPEC EX22. */
export const MAX_EXTERNAL_BODY_BYTES = 256 * 1024 * 1024

/** Maximum number of parts (thinking, text, calls) of an external answer. Each part makes every batch of deltas more expensive. SPEC EX21. */
export const MAX_EXTERNAL_PARTS = 4_000

/** Maximum number of tool calls of an external answer: more than a turn of a model can make (MAX_STEPS × MAX_CALLS_PER_STEP). SPEC EX21. */
export const MAX_EXTERNAL_CALLS = 1_000

/** Maximum total of the results and tool output of an external or imported answer, in UTF-16 code units: the whole answer is in memory at once. More is dropped. SPEC EX20, RE36. */
export const MAX_EXTERNAL_DATA_CHARS = 16 * 1024 * 1024

// ── Import and export ──

/** Largest uploaded file, or part of one, in bytes, compressed and uncompressed. SPEC RE6. */
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024

/** Maximum number of parts of an upload: 4 GB of text, well below what the platform stores for one object. SPEC RE20. */
export const MAX_IMPORT_PARTS = 64

/** Longest wait for the next part of an upload, in milliseconds. Messages that are sent in the meantime are queued. SPEC RE31. */
export const IMPORT_STAGING_MS = 5 * 60_000

/** Longest silence within an upload, in milliseconds. Messages that are sent in the meantime are queued. SPEC RE34. */
export const IMPORT_IDLE_MS = 30_000

/** Longest upload of a file or of one part, in milliseconds: the largest at 1 Mbit/s. SPEC RE40. */
export const IMPORT_UPLOAD_MS = 10 * 60_000

/** Longest time from the first part of a file to the last, in milliseconds: the largest file at 20 Mbit/s. SPEC RE40. */
export const IMPORT_TOTAL_MS = 30 * 60_000

/** How long the response to an upload waits for folding, in milliseconds: less than the time limit of common proxies. After that the client polls. SPEC RE33. */
export const IMPORT_RESPONSE_MS = 20_000

/** Longest line of an uploaded file, in bytes. A result of control characters, each escaped to six bytes, fits. SPEC RE43. */
export const MAX_IMPORT_LINE_BYTES = 6 * MAX_RESULT_BYTES + MAX_BODY_BYTES

/** Maximum number of skipped lines that are reported one by one. The others are only counted. */
export const MAX_BAD_LINES = 100

/** Maximum number of tool calls and of parts of an imported answer: folding searches them for each event. The rest are dropped. SPEC RE36. */
export const MAX_IMPORTED_CALLS = 2_000
export const MAX_IMPORTED_PARTS = 8_000

/** Maximum number of calls of an imported file that wait for an asynchronous answer. If there are more, the oldest are dropped. SPEC RE12. */
export const MAX_IMPORTED_PENDING_CALLS = 1_000

/** Highest position or version number of a record: far beyond any session, and small enough to stay an exact integer. */
export const MAX_RECORD_POS = 2 ** 40

/** Highest step number of a record: one event is created for each step that a record skips. */
export const MAX_RECORD_STEP = 10_000

// ── Requests and sockets ──

/** Longest time for a JSON body to arrive, in milliseconds: the largest one at 256 kbit/s, with some headroom. SPEC RT12. */
export const BODY_MS = 20_000

/** Longest wait for a socket's `hello`, in milliseconds: a client sends it at once. SPEC AU15. */
export const HELLO_MS = 30_000

/** Longest time until a new socket is registered with its user's directory, in milliseconds. SPEC AU19. */
export const SOCKET_REGISTER_MS = 5_000
