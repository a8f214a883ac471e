/**
 * user-limits.ts: the limits per user, session, tenant or IP address, each with its unit and reason.
 *
 * The rates and RATE_PERIOD_SECONDS must equal the bindings at the top of wrangler.toml; a test compares them.
 */

// ── Rates ──

/** The period of the rates, in seconds: short, so that a refused client waits only briefly. SPEC LI1. */
export const RATE_PERIOD_SECONDS = 10

/** The class in which a request or frame is counted. */
export type RateClass = "write" | "read" | "socket"

/**
 * Requests per RATE_PERIOD_SECONDS. A user's rate is enough for a page that loads many images, and for an import of
 * hundreds of conversations. A tenant's rate is enough for a hundred busy users. SPEC LI1.
 */
export const RATE_LIMITS: Readonly<Record<RateClass, { readonly user: number; readonly tenant: number }>> = {
  write: { user: 60, tenant: 6_000 },
  read: { user: 300, tenant: 30_000 },
  socket: { user: 30, tenant: 3_000 },
}

/**
 * Close code of a socket that is refused because of a limit. The client waits RATE_PERIOD_SECONDS before its next
 * attempt. SPEC LI3.
 */
export const CLOSE_LIMITED = 4429

/**
 * Maximum number of frames that a client can send on one socket in RATE_PERIOD_SECONDS: many times what a page sends.
 * SPEC LI4.
 */
export const MAX_SOCKET_FRAMES = 300

/**
 * Maximum number of failed sign-ins from one IP address to one tenant in SIGN_IN_PERIOD_SECONDS: more than typing
 * mistakes would explain. SPEC LI7.
 */
export const MAX_FAILED_SIGN_INS = 20
export const SIGN_IN_PERIOD_SECONDS = 60

// ── Sessions and sockets ──

/** Maximum number of sessions in a user's list: a list of this length can still be searched. SPEC LI8. */
export const MAX_USER_SESSIONS = 10_000

/** Maximum number of open sockets of a session. Every change is sent to each of them. SPEC LI9. */
export const MAX_SESSION_SOCKETS = 1_000

/**
 * Maximum number of a user's open sockets across all sessions: enough for a thousand tabs that all reconnect at once.
 * SPEC LI9.
 */
export const MAX_USER_SOCKETS = 2_000

// ── Stored bytes ──

/**
 * Maximum number of bytes that a user can store in files and in text (counted in whole megabytes): ten full sessions.
 * SPEC LI10.
 */
export const MAX_USER_STORED_BYTES = 10 * 1024 * 1024 * 1024

/** Maximum number of bytes that all users of a tenant can store together: a hundred full users. SPEC LI11. */
export const MAX_TENANT_STORED_BYTES = 1024 * 1024 * 1024 * 1024

/**
 * How far the tenant's count can lag behind per user, in bytes: enough that storing one or two photos doesn't cause a
 * request to the tenant. SPEC LI11.
 */
export const TENANT_STEP_BYTES = 8 * 1024 * 1024

// ── Remote media ──

/**
 * Maximum number of files fetched from other hosts for a user in REMOTE_WINDOW_MS, not counting cached files. SPEC
 * LI12.
 */
export const MAX_REMOTE_FETCHES = 1_000
export const REMOTE_WINDOW_MS = 60 * 60_000

// ── Search and organising ──

/** How long a temporary session is kept after its last socket has closed, in milliseconds. SPEC OG8. */
export const TEMPORARY_MS = 24 * 60 * 60_000

/** Maximum number of sessions that one request changes. SPEC OG5. */
export const MAX_BULK_SESSIONS = 100

/** Number of hits per page of search results: the default and the maximum. SPEC FT34. */
export const DEFAULT_PAGE_HITS = 20
export const MAX_PAGE_HITS = 50

// ── Backups ──

/**
 * Maximum time for which a deployment may keep scheduled backups, in days. The platform itself can restore storage for
 * 30 days, as the receipt of an erasure says. Backups contain erased users until the backups are deleted, a whole day
 * at a time, so they must be deleted within those 30 days. SPEC BK5.
 */
export const MAX_BACKUP_DAYS = 29
