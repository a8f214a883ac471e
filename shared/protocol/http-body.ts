/**
 * http-body.ts: the JSON bodies of HTTP responses that the page reads.
 *
 * worker/routes → HTTP BODY → client/net/api
 */

import type { FaultReason, WireFault } from "../fault.ts"
import type { PageTheme } from "../theme/page-theme.ts"
import type { Asset } from "./event.ts"
import type { WireMessage } from "./server-frame.ts"

/** A page of history, oldest message first. A socket can resume from its `seq` and `epoch`. */
export interface HistoryPage {
  readonly messages: readonly WireMessage[]
  readonly has_more: boolean
  /** The `before` parameter of the next older page. Absent on the oldest page. */
  readonly cursor?: string
  /** The `after` parameter of the next newer page. Absent if the page ends with the newest message. */
  readonly next?: string
  /**
   * Set if the session is temporary: it isn't in any list, and is erased TEMPORARY_MS after its last socket has closed.
   */
  readonly temporary?: true
  readonly epoch: string
  readonly seq: number
}

/** A line of an uploaded file that was skipped. */
export interface BadLine {
  /** The part that contains the line, if the file was uploaded in parts. */
  readonly part?: number
  readonly line: number
  readonly code: FaultReason
  readonly text: string
}

/** The progress of an import: the response to `GET /v1/sessions/:id/import`, and part of the response to an upload. */
export interface ImportProgress {
  /**
   * `staging`: the upload is being stored. `folding`: the stored records are being added to the transcript, in the
   * background. `done`: all records were added. `failed`: the records could not be folded and were discarded.
   */
  readonly state: "none" | "staging" | "folding" | "done" | "failed"
  /** The number of uploaded records, and how many of them are in the transcript. */
  readonly records: number
  readonly folded: number
  /** The first skipped lines. `skipped` is the number of all skipped lines. */
  readonly bad: readonly BadLine[]
  readonly skipped: number
  /** Whether the file has a valid seal of this deployment; false until the seal has been checked. */
  readonly isSealed: boolean
  /** The number of imported messages. Set once the import is `done`. */
  readonly messages?: number
  /**
   * The amount of content in another system's file that cannot be shown in its original form, by kind: a `KnownKind`
   * (kind-counts.ts), or `block:`, `message:` or `line:` followed by an unknown type.
   */
  readonly kinds?: Readonly<Record<string, number>>
  /** Set for an upload in parts: the number of parts, and the numbers of the missing parts. */
  readonly parts?: { readonly of: number; readonly missing: readonly number[] }
}

/** The response to the upload of an import. */
export interface ImportAnswer extends ImportProgress {
  /** Whether this file had already been uploaded. If so, nothing was added. */
  readonly duplicate: boolean
}

/** One entry of the session list. `active`: the time of the last message, in milliseconds since 1970. */
export interface SessionSummary {
  readonly id: string
  readonly title: string
  readonly created: number
  readonly active: number
  /** Whether a turn is running. */
  readonly running: boolean
  /** The session's agent, unless it is the default agent. */
  readonly agent?: string
  /** Set if the session is pinned: it is listed before the sessions that are not pinned. */
  readonly pinned?: true | undefined
  /** Set if the session is archived: it is only in the list of archived sessions. */
  readonly archived?: true | undefined
  /** The id of the session's folder. Absent if the session is in no folder. */
  readonly folder?: string | undefined
  /** Set if an answer ended while the user had no open socket in the session. */
  readonly unread?: true | undefined
}

/** A folder for a user's sessions. Folders contain no other folders. */
export interface SessionFolder {
  readonly id: string
  readonly name: string
  /** When the folder was created, in milliseconds since 1970. */
  readonly created: number
}

/** The result of a bulk change for one session. */
export type BulkResult =
  | { readonly id: string; readonly ok: true }
  | { readonly id: string; readonly ok: false; readonly code: FaultReason; readonly text: string }

/** A piece of a snippet. `hit`: whether the piece matches the search. */
export interface SnippetPart {
  readonly text: string
  readonly hit: boolean
}

/** A message in the open session that matches the search. */
export interface MessageHit {
  /** The id of the message. */
  readonly message: string
  readonly role: "user" | "assistant" | "agent"
  readonly snippet: readonly SnippetPart[]
  /** The time of the message, in milliseconds since 1970. */
  readonly at: number
}

/** The response to `GET /v1/sessions/:id/search`. */
export interface MessageHitPage {
  readonly hits: readonly MessageHit[]
  /**
   * The `before` parameter of the next page; null if everything was searched. A page can be empty even though there is
   * a next page.
   */
  readonly next: string | null
}

/** A session or a message that matches the search. */
export interface SearchHit extends Omit<MessageHit, "message" | "role"> {
  readonly session: string
  /** The title of the session. */
  readonly title: string
  /** The id of the message; null if the title matches. */
  readonly message: string | null
  readonly role: MessageHit["role"] | "title"
}

/** The response to `GET /v1/search`. */
export interface SearchPage {
  readonly hits: readonly SearchHit[]
  /** The `after` parameter of the next page; null on the last one. */
  readonly next: string | null
  /** Whether some older conversations are still being indexed. */
  readonly pending: boolean
}

/** The response to `GET /v1/sessions`: a page of the session list, with the most recently active sessions first. */
export interface SessionPage {
  readonly sessions: readonly SessionSummary[]
  /** The `after` parameter of the next page; null on the last one. */
  readonly next: string | null
}

/** A session that another user shared with this user. `since`: when it was shared, in milliseconds since 1970. */
export interface SharedSession {
  readonly id: string
  /** The user who shared the session: the value of `?owner=` in requests for this session. */
  readonly owner: string
  readonly title: string
  readonly since: number
}

/** The response to `GET /v1/sessions/shared`: a page of the sessions that are shared with the user, newest first. */
export interface SharedSessionPage {
  readonly sessions: readonly SharedSession[]
  /** The `after` parameter of the next page; null on the last one. */
  readonly next: string | null
}

/** A user with whom a session is shared. `since`: when it was shared, in milliseconds since 1970. */
export interface SessionViewer {
  readonly user: string
  readonly since: number
}

/** A shared copy of a session, which anybody with its link can read. Times are in milliseconds since 1970. */
export interface SessionShare {
  readonly id: string
  /** The id of the last message in the copy. */
  readonly upto: string
  /** The session's title when the copy was made. */
  readonly title: string
  readonly created: number
  /** When the copy is deleted; null if never. */
  readonly expires: number | null
  /** Whether readers see the owner's name. */
  readonly named?: true
}

/** A shared copy in the user's list of shared copies. */
export interface UserShare extends SessionShare {
  readonly session: string
  /** The URL of the page that shows the copy. */
  readonly url: string
}

/** The response to `GET /v1/shares/:share?page=`, oldest messages first. */
export interface SharedCopyPage {
  readonly title: string
  readonly created: number
  /** The name of the user who shared the session, if readers may see that name. */
  readonly author: string | null
  readonly messages: readonly WireMessage[]
  /** The number of the next page; null on the last one. */
  readonly next: number | null
}

/** The response to `POST /v1/sessions/:id/assets?name=<label>`, whose request body is the file. */
export interface UploadResponse extends Asset {
  /** Whether the session already had a file with the same bytes. If so, the response is that file's asset. */
  readonly duplicate: boolean
}

/** The response to `POST /v1/sessions/:id/media/sign {urls}`. */
export interface SignResponse {
  /** One entry per requested URL, in the same order. `href` is null if the URL can't be fetched. */
  readonly signed: readonly { readonly url: string; readonly href: string | null }[]
  /** When the first of the links expires, in seconds since 1970. */
  readonly expires: number
}

/** The response to `GET /v1/settings`. */
export interface PageSettings {
  /** Hosts whose media is loaded without a click. */
  readonly media_hosts: readonly string[]
  /** Origins whose documents may be framed. */
  readonly embed_origins: readonly string[]
  /** Whether the model gives titles to conversations. Undefined if the tenant has not set this. */
  readonly titles?: boolean | undefined
  /** Whether the model suggests questions after an answer. Absent means no. */
  readonly follow_ups?: boolean
  /** Whether users see what their answers cost. Absent means no. */
  readonly show_cost?: boolean
  /** Sites that may show the tenant's widget. Absent means none. */
  readonly embed_hosts?: readonly string[]
  /** Set while the tenant is leaving and is read-only: when the tenant is erased, in milliseconds since 1970. */
  readonly erases_at?: number
  /** The tenant's theme. Absent means the default theme. */
  readonly theme?: PageTheme
}

/** A user of the tenant: the response to `GET /v1/users/:id`. */
export interface UserSummary {
  readonly id: string
  readonly name: string | null
  readonly role: "owner" | "admin" | "member" | "viewer"
  /** The name of the issuer with which the user signed in; null for users who use the tenant's own tokens. */
  readonly issuer: string | null
  /** `erasing`: the user's data is being erased. */
  readonly status: "active" | "suspended" | "erasing"
  /** When the user was first seen, in milliseconds since 1970. */
  readonly created: number
}

/** The response to `GET /v1/users`: a page of users, sorted by id. */
export interface UserPage {
  readonly users: readonly UserSummary[]
  /** The `after` parameter of the next page; null on the last one. */
  readonly next: string | null
  /** Set only in a search: some users can't be found yet, because their names are still being indexed. */
  readonly incomplete?: true
}

/** The amount of content that an export contains, an import has created, or an erasure has removed. */
export interface Tally {
  readonly users: number
  /** The number of users' conversations. */
  readonly sessions: number
  /** The number of conversations with agents that were asked in users' conversations. */
  readonly agent_sessions: number
  /** The number of stored files, and their total size in bytes. */
  readonly files: number
  readonly bytes: number
}

/** `leaving`: the tenant can be read but not written until it is erased. */
export type TenantStatus = "open" | "leaving" | "erased"

export interface TenantStanding {
  readonly status: TenantStatus
  /** When the data is erased, in milliseconds since 1970; null unless `leaving`. */
  readonly erases_at: number | null
}

/** The response to `GET /v1/tenant`. */
export interface TenantSummary extends TenantStanding {
  readonly id: string
  readonly region: string | null
}

/** The common fields of a tenant's exports and imports. Times are in milliseconds since 1970. */
interface TenantTransfer<F> {
  readonly id: string
  readonly created: number
  readonly updated: number
  readonly tally: Tally
  /** The reason why the transfer failed; null if it has not. */
  readonly fault: F | null
}

type FaultBody = Pick<WireFault, "code" | "text">

/** An export of the tenant: the response to `GET /v1/tenant/exports/:id`. */
export interface TenantExport<F = FaultBody> extends TenantTransfer<F> {
  readonly state: "running" | "done" | "failed"
  /** When the export's files are deleted. */
  readonly expires: number
  /** The number of files besides the manifest. */
  readonly parts: number
}

/** A scheduled backup of the tenant. */
export interface TenantBackup<F = FaultBody> extends TenantExport<F> {
  /** The backup's folder in the operator's bucket. */
  readonly folder: string
}

/** The response to `GET /v1/tenant/backups`. */
export interface BackupList<F = FaultBody> {
  /** Newest first. */
  readonly backups: readonly TenantBackup<F>[]
  /** How many days backups are kept; null if the server makes no backups of this tenant. */
  readonly kept_days: number | null
}

/** An import into the tenant: the response to `GET /v1/tenant/imports/:id`. */
export interface TenantImport<F = FaultBody> extends TenantTransfer<F> {
  readonly state: "uploading" | "running" | "done" | "failed"
  /** The tenant that was exported. */
  readonly from: string
  readonly parts: number
  /** The lowest numbers among the files that are not uploaded yet. */
  readonly missing: readonly number[]
  /** The number of conversations that could not be imported. */
  readonly skipped: number
}

/** The receipt of an erasure: the response to `GET /v1/tenant/receipts/:id`. Times are in milliseconds since 1970. */
export interface Receipt {
  readonly id: string
  readonly kind: "user" | "tenant"
  /** The id of the erased user or tenant. */
  readonly target: string
  readonly state: "running" | "done"
  readonly requested: number
  /** When the erasure ended; null while it is running. */
  readonly finished: number | null
  /** The amount of erased content. */
  readonly tally: Tally
  /**
   * When the platform's point-in-time recovery can no longer restore the data; null while the erasure is running. Until
   * then, the owner of the platform account could restore the data.
   */
  readonly unrecoverable_after: number | null
}

/** An MCP server to which each user connects with their own account. */
export interface McpConnection {
  readonly server: string
  readonly connected: boolean
}

/** The response to `GET /v1/connections`. */
export interface McpConnectionList {
  readonly connections: readonly McpConnection[]
}

/** The response to `POST /v1/connections/:server`: the URL at which the user grants access. */
export interface McpConnectionStart {
  readonly url: string
}
