/**
 * directory-rpc.ts: the RPC interface of a user's directory object (`directory/directory-object.ts`).
 *
 * `Env` names this interface instead of the class, so that no module needs to import the class.
 */

import type { Result } from "../../../shared/fault.ts"
import type {
  BulkResult,
  SessionFolder,
  SessionShare,
  SessionSummary,
  SharedSession,
} from "../../../shared/protocol/http-body.ts"
import type { BudgetView } from "../../../shared/usage/budget-view.ts"
import type { SessionLease } from "../../../shared/usage/user-account.ts"
import type { SavedPrompt } from "../../../shared/protocol/writing/saved-prompt.ts"
import type { UsageReceipt, UsageReport } from "../../../shared/usage/usage-report.ts"
import type { UsageEntry } from "../../../shared/usage/usage-totals.ts"
import type { Claims, Role } from "./claims.ts"
import type { FoundHits, SearchQuery, SearchUpdate } from "./search-types.ts"

/** The revoked tokens of one user. */
export interface RevocationState {
  /** Increases with every revocation. */
  readonly n: number
  /** Ids of the tokens (`jti`) and of the sign-ins (`sid`) that were revoked individually. */
  readonly tokens: readonly string[]
  /**
   * Every token issued up to this time is revoked, in seconds since 1970; null if the tokens have never been revoked
   * together.
   */
  readonly upTo: number | null
  /** True if the user is suspended. In that case, no token is accepted, not even a new one. Absent: false. */
  readonly suspended?: boolean
  /**
   * True if the user is being erased, or was erased and has not registered again. In that case, links signed up to
   * `upTo` are refused. Absent: false.
   */
  readonly erased?: boolean
}

/** An administrator's change to a user. */
export interface UserState {
  /** Increases with every change to the user. */
  readonly version: number
  readonly suspended: boolean
  /** Null: the tenant has no such user. */
  readonly role: Role | null
  /**
   * Revokes the tokens issued up to this time, in seconds since 1970; 0 revokes none. Null: revokes all tokens issued
   * so far.
   */
  readonly upTo: number | null
}

/** A shared copy in a user's list. `session` is the key of the copied session. */
export interface ShareEntry extends SessionShare {
  readonly session: string
}

/** A change to the list of a user's shared copies. `remove`: the id of a copy. */
export interface ShareChange {
  readonly add?: ShareEntry
  readonly remove?: string
}

/** The tokens that a request revoked: its own token, or all tokens issued up to a time (seconds since 1970). */
export type RevocationResult = { readonly revoked: "token" } | { readonly revoked: "all"; readonly up_to: number }

/** A stored sign-in on the page. */
export interface Login {
  /** The name of the issuer at which the user signed in. */
  readonly issuer: string
  /** The issuer's generation at the time of the sign-in. Sign-ins of a replaced issuer can't obtain any more tokens. */
  readonly generation: number
  /** The role from the issuer's role claim; null: the stored role applies. */
  readonly role: Role | null
}

export interface UsedLogin extends Login {
  /** The version of an administrator's newest change to the user. Absent from a directory of an earlier release. */
  readonly version?: number
}

export interface NewLogin extends Login {
  readonly id: string
  /** SHA-256 of the cookie's secret. */
  readonly hash: string
}

/** SHA-256 of a cookie's secret, and of the next secret. */
export interface LoginSecrets {
  readonly presented: string
  readonly next: string
}

/**
 * A position in the list of sessions, with a public id. It remains valid even if the session that it names is used or
 * erased.
 */
export type SessionCursor = Pick<SessionSummary, "active" | "created" | "id"> & { readonly isPinned: boolean }

/** The list of sessions to read. Default: the sessions that are not archived, in all folders. */
export interface SessionFilter {
  readonly isArchived?: boolean
  /** The id of a folder. */
  readonly folder?: string | undefined
}

/** How a user organises a session. Absent fields do not change. */
export interface SessionChange {
  readonly pinned?: boolean | undefined
  readonly archived?: boolean | undefined
  /** The id of a folder; null: none. */
  readonly folder?: string | null | undefined
  readonly unread?: boolean | undefined
}

/** A change to many sessions. `hasUndo`: deleted sessions can be restored for UNDO_MS. */
export type BulkAction =
  | { readonly do: "change"; readonly change: SessionChange }
  | { readonly do: "delete"; readonly hasUndo: boolean }
  | { readonly do: "restore" }

/** What a session sends its user's directory along with its running state. */
export interface TurnNews {
  /** The text for the search index. */
  readonly search?: SearchUpdate | undefined
  /**
   * True if no turn is running and the user has no socket in the session. If a turn has just ended, its answer is
   * unread.
   */
  readonly isUnattended?: boolean | undefined
}

/** A row of the session list. `id` is the session's key (platform/session-key.ts). */
export interface DirectoryEntry
  extends Pick<SessionSummary, "title" | "created" | "active" | "pinned" | "archived" | "unread"> {
  readonly id: string
  /** Its folder. Absent: none. */
  readonly folder?: SessionFolder
  readonly isTemporary?: true
}

/**
 * A position in the list of shared sessions. It remains valid even if the session that it names is no longer shared.
 */
export type SharedCursor = Pick<SharedSession, "since" | "owner" | "id">

/** The number of bytes that a session stores. */
export interface BytesReport {
  readonly session: string
  readonly bytes: number
  /** Increases with every report of the session. */
  readonly n: number
  /** True if the bytes are already stored. In that case, the report is applied regardless of the limits. */
  readonly isRequired: boolean
}

export interface DirectoryRpc extends Rpc.DurableObjectBranded {
  /**
   * Adds a new session to the list. Repeating the call has no effect. The first session also adds the user to the
   * tenant's list of users; `role` is the role in the user's token. A temporary session counts towards the limits, but
   * no list contains it. Errors: `sessions_full`, `budget_exhausted`, `token_revoked`.
   */
  addSession(
    id: string,
    title: string,
    created: number,
    claims?: Pick<Claims, "role" | "issued">,
    isTemporary?: boolean,
  ): Promise<Result<null>>
  /**
   * Updates the time of the last activity and, if given, the title and whether a turn is running. Ignores a session
   * that is not listed. Returns true if the running state was stored.
   */
  recordActivity(id: string, at: number, title?: string, running?: boolean): Promise<boolean>
  /** Returns the pinned sessions, then the others by last activity, starting from the beginning or after a position. */
  listSessions(limit: number, after?: SessionCursor | null, filter?: SessionFilter): SessionSummary[]
  /**
   * Stores whether a turn is running in a session, and applies the session's news. Adds its usage report, unless the
   * report was added before.
   */
  setRunning(id: string, running: boolean, report?: UsageReport, news?: TurnNews): Promise<UsageReceipt>
  /** Searches titles and messages. Each hit's `session` is a key. Errors: `field_invalid`. */
  search(query: SearchQuery): Promise<Result<FoundHits>>
  /** Changes the sessions with these public ids. Returns one result per session. */
  changeSessions(ids: readonly string[], action: BulkAction): Promise<BulkResult[]>
  /**
   * Hides a session, which is erased after UNDO_MS unless it is restored. Returns the time of its erasure. Errors:
   * `session_unknown`.
   */
  hideSession(id: string): Promise<Result<number>>
  listFolders(): Promise<SessionFolder[]>
  /** Adds a folder. Repeating the call with the same id has no effect. Errors: `folders_full`. */
  addFolder(id: string, name: string): Promise<Result<SessionFolder>>
  /** Renames a folder. Errors: `folder_unknown`. */
  renameFolder(id: string, name: string): Promise<Result<SessionFolder>>
  /** Removes a folder. Its sessions are kept. Errors: `folder_unknown`. */
  removeFolder(id: string): Promise<Result<null>>
  /** Adds the last reports of a session that is being erased, each once. */
  endUsage(reports: readonly UsageReport[]): void
  /** Sends the tenant all usage that it has not yet received. Rejects if that fails. */
  flushUsage(): Promise<void>
  /**
   * Like `flushUsage`. Called before the user is erased. Returns the name of the directory's ledger; null if it has
   * none.
   */
  closeUsage(): Promise<string | null>
  /**
   * Returns the user's usage from one day to another, both included. Includes everything up to each session's last
   * report.
   */
  readUsage(from: string, to: string): UsageEntry[]
  /**
   * Decides whether a turn may begin in a session that has no lease. `isAgent`: another agent requested the turn.
   * Returns the lease, or null if no budget applies to the user. Errors: `budget_exhausted`, `budget_unchecked`.
   */
  leaseTurn(session: string, isAgent: boolean): Promise<Result<SessionLease | null>>
  /**
   * Called when the tenant is known to have budgets. Reads the user's budgets from the tenant if the known ones are
   * old.
   */
  learnBudgets(): Promise<void>

  /** Reads the user's current budgets from the tenant. */
  refreshBudget(): Promise<void>
  /** Returns the remaining amounts of the budgets that apply to the user. */
  readBudgets(): Promise<BudgetView[]>
  /** Removes an erased session. Returns whether it was listed. */
  removeSession(id: string): Promise<boolean>
  /**
   * Adds or removes the entry of a shared copy. Returns all entries, newest first. An empty change only lists them.
   * Errors: `share_links_full`.
   */
  changeShares(change: ShareChange): Result<readonly ShareEntry[]>
  /**
   * Lists a session of another user, or replaces its entry. The caller has checked that the tenant lists this user, so
   * that sharing cannot add users. Errors: `shares_full`.
   */
  putShared(shared: SharedSession): Result<null>
  /** Changes the title of another user's session in the list. */
  renameShared(owner: string, id: string, title: string): void
  /** Removes a session of another user from the list. Repeating the call has no effect. */
  removeShared(owner: string, id: string): void
  /**
   * Returns the sessions that others have shared with this user, newest first, from the beginning or after a position.
   */
  listShared(limit: number, after?: SharedCursor): SharedSession[]
  /**
   * Applies a session's report of its stored bytes. Returns the number of the newest applied report. Errors:
   * `storage_full`, `tenant_storage_full`, `budget_exhausted`.
   */
  reportBytes(report: BytesReport): Promise<Result<number>>
  /** Stops counting the bytes of a session that is being erased. Repeating the call has no effect. */
  removeBytes(session: string): Promise<void>
  /** Checks whether the user may store this many more bytes. Errors: `storage_full`, `budget_exhausted`. */
  checkBytes(more: number): Result<null>
  /** Counts a file that is fetched from another host for the user. Errors: `remote_limited`. */
  countRemoteFetch(): Result<null>
  getRevocationState(): RevocationState
  /**
   * Checks a token before its socket opens, and registers the session for revocations until the token expires. If a
   * stored role was read before an administrator lowered it, the token is treated as revoked. `sockets`: the number of
   * the user's open sockets in that session, including this one; absent if unknown.
   *
   * Errors: `token_revoked`, `user_suspended`, `user_sockets_full`.
   */
  authorizeSocket(claims: Claims, session: string, sockets?: number): Promise<Result<null>>
  /**
   * Adds a sign-in. Errors: `sign_in_required` if a sign-in with this id exists or was revoked, because a sign-in is
   * completed only once; `revocations_full`.
   */
  addLogin(login: NewLogin): Result<null>
  /**
   * Like `addLogin`, without a call to the tenant's object, for a user whom the tenant is known to list. Further
   * errors: `user_unknown` if the tenant's object must be called; `user_suspended`.
   */
  addKnownLogin(login: NewLogin): Result<null>
  /**
   * Checks the secret of a sign-in's cookie and replaces it. A secret that is older than the previous one ends the
   * sign-in and revokes its tokens (`copied`). Errors: `sign_in_required`, `user_suspended`, `user_erased`.
   */
  useLogin(id: string, secrets: LoginSecrets): Result<UsedLogin | "copied">
  /**
   * Ends a sign-in and revokes its tokens. With `everywhere`, ends all sign-ins and revokes all tokens. `presented`:
   * SHA-256 of the cookie's secret. Repeating the call has no effect.
   *
   * Returns null if the sign-in has already ended, and `copied` if the secret is older than the previous one. In both
   * cases, the other sign-ins are not affected.
   */
  endLogin(id: string, presented: string, everywhere: boolean): "current" | "copied" | null
  /**
   * Revokes the token of the request, or all tokens of its user. Repeating the call has no effect.
   *
   * Errors: `token_revoked` if the request is to revoke all tokens, but its own token was already revoked individually;
   * `revocations_full`.
   */
  revokeTokens(claims: Claims, wantsAll: boolean): Promise<Result<RevocationResult>>
  /**
   * Applies an administrator's change to the user: revokes tokens, and notes a suspension. Repeating the call has no
   * effect.
   */
  applyUserState(state: UserState): void

  listPrompts(): Promise<SavedPrompt[]>
  /** Adds or replaces a saved prompt. Errors: `prompts_full`. */
  putPrompt(prompt: SavedPrompt): Promise<Result<SavedPrompt>>
  /**
   * Adds the saved prompts of an imported user. They replace stored prompts with the same ids. Prompts beyond the limit
   * are omitted.
   */
  restorePrompts(prompts: readonly SavedPrompt[]): Promise<void>
  /** Removes a saved prompt. Repeating the call has no effect. */
  removePrompt(id: string): Promise<void>
  /**
   * Lists up to `limit` sessions by key, from the beginning or after a key. With `isExport`, hidden and temporary
   * sessions are omitted.
   */
  listEntries(after: string | null, limit: number, isExport?: boolean): DirectoryEntry[]
  /** Adds an imported session to the list, with its former entry. Repeating the call has no effect. */
  restoreEntry(entry: DirectoryEntry): void
  /** Closes the user's sockets, and refuses all of the user's tokens, even new ones, until `endErasure`. */
  beginErasure(): void
  /**
   * Deletes everything that is stored here except one row, whose presence causes the tokens issued so far to be
   * refused. If `keepsTombstone` is false, the whole tenant is being erased and its object refuses the tokens, so that
   * row is deleted too.
   */
  endErasure(keepsTombstone: boolean): Promise<void>
  /**
   * Closes all of the user's sockets, so that the clients reconnect. Returns the number of sessions that could not be
   * reached.
   */
  closeSockets(tenant: string): Promise<number>
}
