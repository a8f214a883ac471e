/**
 * limits.ts: every bound of Cuecard, with its unit and its reason.
 *
 * Nothing else in the project holds a bare number that a user, an upstream or a
 * model could run into, but for what one tool alone bounds (the bars of a chart),
 * which stands in that tool. Over a limit trips once and says so (SPEC ER1).
 * Pure.
 */

/** Longest construct of model text that is held back undecided, in UTF-16 code units. Longer is text. SPEC CL8. */
export const MAX_PENDING_CHARS = 4096

/** Version of the wire. The server also speaks the one before it (SPEC WS1). Change it with any change of shared/protocol/frame.ts. */
export const PROTOCOL_VERSION = 3

/** Largest frame a client may send, in UTF-8 bytes: four full messages, far under the platform's 32 MiB. SPEC WS4. */
export const MAX_CLIENT_FRAME_BYTES = 256 * 1024

/** Largest frame we send, in UTF-8 bytes. A larger message goes as its header and then ops. SPEC WS5. */
export const MAX_SERVER_FRAME_BYTES = 256 * 1024

/** Files that a message may have: a page of pictures, and each of them costs the model a part of what it reads. SPEC AT2. */
export const MAX_ATTACHMENTS = 10

/** Most of a message that is quoted to the model where another replies to it, in UTF-16 code units: a paragraph. SPEC AT6. */
export const MAX_QUOTE_CHARS = 600

/**
 * Bytes of files that are loaded for one model call, the newest first: each is held some four times on its way (base64, JSON,
 * the request), in a Worker of 128 MB. SPEC AT7.
 */
export const MAX_MODEL_FILE_BYTES = 8 * 1024 * 1024

/** Most of a text file that a model is given, in bytes: half of what the default model takes in all. SPEC AT5. */
export const MAX_MODEL_TEXT_BYTES = 48 * 1024

/** Share of a call that the files of its own question may fill: the rest is for results and the answer. SPEC AT5. */
export const MAX_FILES_SHARE = 0.5

/** Tokens that a picture counts as: what the larger providers bill for a large one; they make it smaller themselves. SPEC AT5. */
export const IMAGE_TOKENS = 1_600

/** Bytes of a PDF that count as a token, and the least that one counts as: a page is some 2,000 tokens and 25 KB or more. SPEC AT7. */
export const PDF_BYTES_PER_TOKEN = 12
export const MIN_DOCUMENT_TOKENS = 2_000

/** Bytes of sound that count as a token: 32 tokens a second, at 64 kbit/s. SPEC AT7. */
export const AUDIO_BYTES_PER_TOKEN = 250

/** Bytes of a film that count as a token: 300 tokens a second, at 2 Mbit/s. SPEC AT7. */
export const VIDEO_BYTES_PER_TOKEN = 800

/** Longest user message, in UTF-8 bytes. Fits one frame unless most of it are control characters. SPEC WS4. */
export const MAX_MESSAGE_BYTES = 64 * 1024

/** Largest file of one import, or part of one, in bytes, packed and unpacked. A larger one comes in parts. SPEC RE6. */
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024

/** Most parts that a file may come in: 4 GB of text, well within what the platform stores for one object. SPEC RE20. */
export const MAX_IMPORT_PARTS = 64

/** A file in parts of which no part came for so long is given up, in milliseconds: what is sent meanwhile waits for it. SPEC RE20. */
export const IMPORT_STAGING_MS = 5 * 60_000

/** Longest silence inside an upload, in milliseconds: what is sent meanwhile waits for it. SPEC RE34. */
export const IMPORT_IDLE_MS = 30_000

/** Longest wait of an upload's answer for the folding, in milliseconds; a longer one is asked for. Under what proxies wait. SPEC RE21. */
export const IMPORT_RESPONSE_MS = 20_000

/** Longest line of such a file, in bytes: the largest stored result, twice escaped. */
export const MAX_IMPORT_LINE_BYTES = 4 * 1024 * 1024

/** Lines that could not be used and are told one by one; the others are counted. */
export const MAX_BAD_LINES = 100

/** Largest request body of the JSON routes, in bytes: a message in its worst escaping and some room. */
export const MAX_BODY_BYTES = 512 * 1024

/** Longest public id, in characters. Ids match `[A-Za-z0-9_-]{1,64}` (DESIGN §6). */
export const MAX_ID_CHARS = 64

/** Longest session title, in UTF-16 code units: two lines of the session list. */
export const MAX_TITLE_CHARS = 120

/**
 * Window in which deltas are gathered before they are written and sent, in milliseconds. Unseen by a reader, few rows.
 * The promise is 150 (DESIGN §3): a timer is late by a few.
 */
export const DELTA_WINDOW_MS = 146

/** Text gathered in one window before it is written at once, in UTF-16 code units. One leaf. SPEC ST3. */
export const DELTA_WINDOW_CHARS = 4096

/** Largest stored leaf of a text part, in UTF-16 code units: what one delta rewrites. SPEC ST4. */
export const MAX_TEXT_CHUNK_CHARS = 4096

/** Largest stored tool result, in UTF-8 bytes. Under the platform's 2 MB row. Larger is a tool error. SPEC TU7. */
export const MAX_RESULT_BYTES = 1_500_000

/** Largest payload of a card, in UTF-8 bytes: it goes to every tab in one frame. Larger results stay tool output. SPEC SG6. */
export const MAX_CARD_BYTES = 64 * 1024

/** Largest tool result, output or argument text shown, in UTF-8 bytes. The store keeps the whole. SPEC SG9. */
export const MAX_SHOWN_BYTES = 50 * 1024

/** Most lines shown of a tool's result or output. SPEC SG9. */
export const MAX_SHOWN_LINES = 2000

/** Frames kept in memory for a client that reconnects. Older ones are read from the store. SPEC WS7. */
export const REPLAY_FRAMES = 512

/** Bytes of frames kept in memory for the same purpose. SPEC WS7. */
export const REPLAY_BYTES = 1024 * 1024

/** A client says `seen` after so many numbered frames, so that a socket that does not read is found. */
export const SEEN_EVERY_FRAMES = 64

/** Page of history when the client names none, in messages. */
export const DEFAULT_PAGE_MESSAGES = 12

/** Largest page of history, in messages. */
export const MAX_PAGE_MESSAGES = 120

/** Largest page of history, in UTF-8 bytes; a page always holds at least one message. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** Model calls in one turn: enough for long discovery, an end to loops. Law 8. */
export const MAX_STEPS = 24

/** Tool calls that one model call may ask for. More are refused as drift of the model. */
export const MAX_CALLS_PER_STEP = 32

/** Longest run of one turn, in milliseconds. Law 8. */
export const TURN_MS = 10 * 60_000

/** Longest run of one tool, in milliseconds. Law 8. */
export const TOOL_MS = 60_000

/** Longest wait for a model to answer at all, in milliseconds. Law 8. */
export const MODEL_FIRST_BYTE_MS = 60_000

/** Longest silence inside a model's stream, in milliseconds. Law 8. */
export const MODEL_IDLE_MS = 60_000

/** Longest wait for a weather upstream, in milliseconds. A person is waiting. SPEC TO6. */
export const WEATHER_MS = 5_000

/** Age up to which a weather reply is used without asking again, in milliseconds. */
export const WEATHER_FRESH_MS = 10 * 60_000

/** Age up to which a weather reply is used when the upstream fails, in milliseconds. */
export const WEATHER_STALE_MS = 24 * 60 * 60_000

/** Model text that goes into one model call, in tokens (estimated at four code units each). */
export const MODEL_CONTEXT_TOKENS = 32_000

/** A token handed out by `AUTH=dev` lives so long, in seconds. */
export const DEV_TOKEN_SECONDS = 60 * 60

/** Shortest secret that signs tokens, in UTF-8 bytes (HS256 needs 32). SPEC AU3. */
export const MIN_SECRET_BYTES = 32

/** Sessions listed in one answer of the directory. */
export const MAX_SESSIONS_LISTED = 200

/** A client pings so often, in milliseconds; answered without waking the object. */
export const PING_MS = 20_000

/** A socket that answered nothing for so long is dead, in milliseconds. */
export const DEAD_SOCKET_MS = 45_000

/** An object with a running turn is woken so often, in milliseconds, should its process be killed. Law 8. */
export const TURN_ALARM_MS = 20_000

/** Most that a model may say in one turn, thoughts and arguments included, in UTF-16 code units: a thick book's chapter. SPEC TU13. */
export const MAX_ANSWER_CHARS = 1_000_000

/** Bytes that a socket may be sent and not say it has seen. More, and it is closed: they wait in our memory. SPEC WS12. */
export const MAX_UNSEEN_BYTES = 8 * 1024 * 1024

/** A client says `seen` after so many bytes at the latest. */
export const SEEN_EVERY_BYTES = 1024 * 1024

/** Longest arguments of a tool call that are kept, in UTF-16 code units. Longer ones fail the call. SPEC TU7. */
export const MAX_ARGS_CHARS = 128 * 1024

/** Longest name of a tool that is kept, in UTF-16 code units. */
export const MAX_TOOL_NAME_CHARS = 64

/** Longest message of a call's error that is kept, in UTF-16 code units: it is shown on one line. */
export const MAX_ERROR_CHARS = 500

/** Most output of a running tool that is kept, in UTF-16 code units; what comes after it is dropped. SPEC TU7. */
export const MAX_OUTPUT_CHARS = 256 * 1024

/** Messages that may wait behind a running turn. More is a client gone wild. SPEC TU3. */
export const MAX_QUEUED_MESSAGES = 8

/** Messages that a resume sends whole; a client further behind reads history. SPEC WS7. */
export const MAX_RESUME_MESSAGES = 120

/** How often a model that refuses for the moment (429, 5xx) is asked again before it has said anything. SPEC MO12. */
export const MODEL_RETRIES = 2

/** Wait before the first of these, in milliseconds; doubled for the next, and half of it left to chance. SPEC MO12. */
export const MODEL_RETRY_MS = 500

/** Longest `Retry-After` that is waited for, in milliseconds: a person is waiting. A longer one ends the turn at once. SPEC MO12. */
export const MAX_RETRY_AFTER_MS = 20_000

/** Longest wait for somebody to allow a tool call, in milliseconds; then it is denied. Law 8. */
export const APPROVAL_MS = 7 * 24 * 60 * 60_000

/** Share of MODEL_CONTEXT_TOKENS from which on older turns are summarised, and share that the newest turns keep then. SPEC TU9. */
export const SUMMARY_START_SHARE = 0.75
export const SUMMARY_KEEP_SHARE = 0.25

/** Longest summary of older turns, in UTF-16 code units: a few hundred words. SPEC TU9. */
export const MAX_SUMMARY_CHARS = 6_000

/** How long the Worker may go on trusting a token that it has checked, in milliseconds. SPEC AU7. */
export const TOKEN_TRUST_MS = 30_000

/** Agents that a tenant may have, the default ones included. SPEC AG1. */
export const MAX_AGENTS = 32

/** Longest prompt of an agent, in UTF-16 code units: four thousand tokens. SPEC AG1. */
export const MAX_AGENT_PROMPT_CHARS = 16 * 1024

/** How many agents may ask or answer one another before a person speaks again. SPEC AG5. */
export const MAX_AGENT_DEPTH = 8

/** Questions between agents that one message of a person may bring about, at whatever depth: eight of its own. SPEC AG11. */
export const MAX_AGENT_QUESTIONS = 256

/** Longest wait of a turn for another agent's answer, in milliseconds: half of a turn, and half of it with each agent further. */
export const AGENT_ANSWER_MS = 5 * 60_000

/** Longest wait for an answer that comes late, in milliseconds; then its call has failed. SPEC AG4. */
export const AGENT_CALLBACK_MS = 24 * 60 * 60_000

/** Longest answer of an agent that is handed to the one that asked, in UTF-16 code units. */
export const MAX_AGENT_ANSWER_CHARS = 64 * 1024

/** Wait before an agent's session that broke off is asked again, in milliseconds. */
export const AGENT_RETRY_MS = 500

/** A token for a producer outside lives so long where nobody says, in seconds: a working day. SPEC AU11. */
export const EXTERNAL_TOKEN_SECONDS = 8 * 60 * 60

/** Longest life of such a token, in seconds: a week, then its owner hands out another. SPEC AU11. */
export const MAX_EXTERNAL_TOKEN_SECONDS = 7 * 24 * 60 * 60

/**
 * A producer outside that says nothing for so long is gone, in milliseconds. The promise is a minute: a timer, or the
 * alarm after a restart, may be late by a few seconds. SPEC EX8.
 */
export const PRODUCER_SILENCE_MS = 50_000

/** A sign of its life is written down so seldom, in milliseconds: a row each time. SPEC EX14. */
export const PRODUCER_REFRESH_MS = 10_000

/** Longest answer from outside, in milliseconds: coding agents work for hours, and say every minute that they live. Law 8. */
export const PRODUCER_TURN_MS = 4 * 60 * 60_000

/** Longest line of a producer outside, in bytes: the largest stored result, twice escaped. SPEC EX10. */
export const MAX_RECORD_BYTES = 4 * 1024 * 1024

/** Largest body of one request of a producer outside, in bytes: more than any answer comes to; hours of empty lines fit. SPEC EX22. */
export const MAX_EXTERNAL_BODY_BYTES = 256 * 1024 * 1024

/** Parts of one answer from outside: thoughts, texts and calls. Each costs a little with every window. SPEC EX21. */
export const MAX_EXTERNAL_PARTS = 4_000

/** Tool calls of one answer from outside: more than an own turn could make (MAX_STEPS × MAX_CALLS_PER_STEP). SPEC EX21. */
export const MAX_EXTERNAL_CALLS = 1_000

/** Results and output of one answer from outside, in UTF-16 code units: it is read whole. Later ones fail. SPEC EX20. */
export const MAX_EXTERNAL_DATA_CHARS = 16 * 1024 * 1024

/** Tool calls of one imported answer, and its parts: folding looks through them with each event. Later ones are dropped. SPEC RE36. */
export const MAX_IMPORTED_CALLS = 2_000
export const MAX_IMPORTED_PARTS = 8_000

/** Calls of an imported file that wait for a callback at a time; of more, the oldest are forgotten. SPEC RE12. */
export const MAX_IMPORTED_PENDING_CALLS = 1_000

/** Largest record that is staged, in UTF-8 bytes: the platform's row. SPEC RE36. */
export const MAX_STAGED_BYTES = 2_000_000

/** Highest position, and number of a version, that a record may name: far more than a session can have, and still exact after it. */
export const MAX_RECORD_POS = 2 ** 40

/** Highest number of a step that a record may name: each one before it is counted. */
export const MAX_RECORD_STEP = 10_000

/** Late changes of older messages that are remembered, one by one, for those who resume. Further back, they read history. SPEC HI5. */
export const MAX_LATE_CHANGES = 256

/** Longest URL that is read, in UTF-16 code units, and so longest value of a `MEDIA:` line. SPEC PU1, DR2. */
export const MAX_URL_CHARS = 4096

/** Longest `MEDIA:` line that is held back until it ends, in UTF-16 code units: one longest value and words about it. SPEC DR2. */
export const MAX_MEDIA_LINE_CHARS = 2 * MAX_URL_CHARS

/** Files, messages and origins that the directives of one part may name and have decided; what it names beyond is refused. Each is a look-up, and what is granted is written again with every window. SPEC DR11. */
export const MAX_GRANT_NAMES = 100

/** Height of an embed, in CSS pixels: less is ignored, more is this. SPEC DR6. */
export const MIN_EMBED_HEIGHT = 160
export const MAX_EMBED_HEIGHT = 1_200

/** Longest name of a host, in characters and without a final dot: the DNS takes no longer one. SPEC PU2, SE2. */
export const MAX_HOST_CHARS = 253

/** Origins that a tenant may let its answers frame: each stands in a header of the page, which proxies bound. SPEC SE2. */
export const MAX_EMBED_ORIGINS = 32

/** Hosts whose media a tenant may have loaded without a click: each session keeps the list. SPEC SE2. */
export const MAX_MEDIA_HOSTS = 100

/** Redirects of remote media: one to a name with www, one to a mirror, and some room. SPEC RM5. */
export const MAX_REMOTE_REDIRECTS = 4

/** Longest wait for the first bytes of remote media, its redirects included, and for all of it, in milliseconds. SPEC RM3. */
export const REMOTE_FIRST_BYTE_MS = 15_000
export const REMOTE_MS = 5 * 60_000

/** Remote media of at most so many bytes is kept: while it is, all of it may stand in memory. SPEC RM4. */
export const MAX_REMOTE_CACHED_BYTES = 16 * 1024 * 1024

/** So long it is kept, in seconds: an afternoon's reading of one conversation. SPEC RM4. */
export const REMOTE_FRESH_SECONDS = 60 * 60

/** The page's policy may be so old, in milliseconds: what a tenant allows is asked for once in that time. SPEC HD2. */
export const SETTINGS_FRESH_MS = 10_000

/** Largest image, audio, video, PDF and text that is kept, in bytes: what a page can show and a model may be given. SPEC AS3. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024
export const MAX_AUDIO_BYTES = 25 * 1024 * 1024
export const MAX_VIDEO_BYTES = 100 * 1024 * 1024
export const MAX_PDF_BYTES = 32 * 1024 * 1024
export const MAX_TEXT_BYTES = 10 * 1024 * 1024

/** Largest canvas document, in bytes: a page with its scripts and pictures inside. SPEC AS11. */
export const MAX_CANVAS_BYTES = 512 * 1024

/** Files of one session, and all their bytes together; what is on its way counts. SPEC AS4. */
export const MAX_SESSION_ASSETS = 500
export const MAX_SESSION_ASSET_BYTES = 1024 * 1024 * 1024

/** Longest label of a file, in UTF-16 code units: a name of a usual file system may have 255 bytes. SPEC AS6. */
export const MAX_LABEL_CHARS = 120

/** Bytes at the beginning of a file from which its type is read: the first pages of every format that is taken. SPEC AS2. */
export const FILE_TYPE_BYTES = 4096

/** Bytes at the beginning of a picture in which its size is looked for: a photograph's preview and colours stand before it. SPEC AS2. */
export const IMAGE_SIZE_BYTES = 128 * 1024

/** Longest side of a picture that is told, in pixels: the most that its formats can say in common. SPEC AS15. */
export const MAX_SIDE = 65_535

/** Longest upload, in milliseconds: a largest video over 1 Mbit/s. SPEC AS7. */
export const MAX_UPLOAD_MS = 15 * 60_000

/** A file that is not there after so long never comes, in milliseconds: twice the longest upload. SPEC AS7. */
export const ASSET_PENDING_MS = 2 * MAX_UPLOAD_MS

/** Addresses that are signed in one request: what a page of history shows. SPEC MS1. */
export const MAX_SIGNED_URLS = 100

/** A signed address is good for at most so long, in seconds; a page asks again then. SPEC MS2. */
export const SIGNED_URL_SECONDS = 60 * 60

/** Within so many seconds the same address is signed alike, so that a browser finds it in its cache. SPEC MS2. */
export const SIGNED_URL_STEP_SECONDS = 5 * 60
