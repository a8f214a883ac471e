/** listener-limits.ts: limits for programs that answer questions on behalf of external agents. SPEC EA. */

/** How long a program can wait for a question in one request, in milliseconds. */
export const MAX_LISTEN_MS = 25_000

/** Maximum number of a tenant's questions that are waiting for a program. */
export const MAX_OPEN_QUESTIONS = 1_000

/** Maximum number of a tenant's requests that are waiting for a question. */
export const MAX_LISTENERS = 100

/**
 * How long the token of a question is valid, in seconds: longer than an external answer can take (PRODUCER_TURN_MS).
 */
export const QUESTION_TOKEN_SECONDS = 5 * 60 * 60
