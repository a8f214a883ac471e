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
  /** The session is temporary: it is in no list and is erased TEMPORARY_MS after its last socket. Absent: no. */
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

/** Progress of an import: the response to `GET /v1/sessions/:id/import`, and part of the response to an upload. */
export interface ImportProgress {
  /** `staging`: the upload is being stored. `folding`: it is being added to the transcript, in the background. `done`: all of it was added. `failed`: it could not be folded and was discarded. */
  readonly state: "none" | "staging" | "folding" | "done" | "failed"
  /** Records that were uploaded, and how many of them are in the transcript. */
  readonly records: number
  readonly folded: number
  /** The first skipped lines. `skipped` counts all of them. */
  readonly bad: readonly BadLine[]
  readonly skipped: number
  /** Whether the file has a valid seal of this deployment; false until the seal has been checked. */
  readonly isSealed: boolean
  /** Number of messages that were imported. Set once it is `done`. */
  readonly messages?: number
  /**
   * Counts of content in another system's file that cannot be shown as it was, by kind: a `KnownKind` of kind-counts.ts, or
   * `block:`, `message:` or `line:` and an unknown type.
   */
  readonly kinds?: Readonly<Record<string, number>>
  /** Set for an upload in parts: their count, and the numbers of the missing ones. */
  readonly parts?: { readonly of: number; readonly missing: readonly number[] }
}

/** The response to the upload of an import. */
export interface ImportAnswer extends ImportProgress {
  /** This file was uploaded before. Nothing was added. */
  readonly duplicate: boolean
}

/** One entry of the session list. `active`: time of the last message, in milliseconds since 1970. */
export interface SessionSummary {
  readonly id: string
  readonly title: string
  readonly created: number
  readonly active: number
  /** A turn is running. */
  readonly running: boolean
  /** The agent of the session, if it is not the default one. */
  readonly agent?: string
  /** It is listed before the sessions that are not pinned. Absent: no. */
  readonly pinned?: true | undefined
  /** It is only in the list of archived sessions. Absent: no. */
  readonly archived?: true | undefined
  /** The id of its folder. Absent: none. */
  readonly folder?: string | undefined
  /** An answer ended while the user had no socket in the session. Absent: no. */
  readonly unread?: true | undefined
}

/** A folder of a user's sessions. Folders contain no folders. */
export interface SessionFolder {
  readonly id: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly created: number
}

/** The result of a change of many sessions for one of them. */
export type BulkResult =
  | { readonly id: string; readonly ok: true }
  | { readonly id: string; readonly ok: false; readonly code: FaultReason; readonly text: string }

/** A piece of a snippet. `hit`: it was searched for. */
export interface SnippetPart {
  readonly text: string
  readonly hit: boolean
}

/** A message of an open session that contains what was searched for. */
export interface MessageHit {
  /** The id of the message. */
  readonly message: string
  readonly role: "user" | "assistant" | "agent"
  readonly snippet: readonly SnippetPart[]
  /** Time of the message, in milliseconds since 1970. */
  readonly at: number
}

/** The response to `GET /v1/sessions/:id/search`. */
export interface MessageHitPage {
  readonly hits: readonly MessageHit[]
  /** The `before` parameter of the next page; null: everything was searched. A page can be empty and have a next one. */
  readonly next: string | null
}

/** A session or a message that contains what was searched for. */
export interface SearchHit extends Omit<MessageHit, "message" | "role"> {
  readonly session: string
  /** The title of the session. */
  readonly title: string
  /** Null if the title was found. */
  readonly message: string | null
  readonly role: MessageHit["role"] | "title"
}

/** The response to `GET /v1/search`. */
export interface SearchPage {
  readonly hits: readonly SearchHit[]
  /** The `after` parameter of the next page; null on the last one. */
  readonly next: string | null
  /** Some older conversations are still being indexed. */
  readonly pending: boolean
}

/** The response to `GET /v1/sessions`: a page of the session list, the newest activity first. */
export interface SessionPage {
  readonly sessions: readonly SessionSummary[]
  /** The `after` parameter of the next page; null on the last one. */
  readonly next: string | null
}

/** A session that another user shared with the user. `since` is when, in milliseconds since 1970. */
export interface SharedSession {
  readonly id: string
  /** The user who shared it: the value of `?owner=` in requests for it. */
  readonly owner: string
  readonly title: string
  readonly since: number
}

/** The response to `GET /v1/sessions/shared`: a page of the sessions that were shared with the user, newest first. */
export interface SharedSessionPage {
  readonly sessions: readonly SharedSession[]
  /** The `after` parameter of the next page; null on the last one. */
  readonly next: string | null
}

/** A user with whom a session is shared. `since` is when it was shared, in milliseconds since 1970. */
export interface SessionViewer {
  readonly user: string
  readonly since: number
}

/** A shared copy of a session, which anybody with its link can read. Times are in milliseconds since 1970. */
export interface SessionShare {
  readonly id: string
  /** The id of the last message that it contains. */
  readonly upto: string
  /** The session's title when it was made. */
  readonly title: string
  readonly created: number
  /** When it is deleted; null: never. */
  readonly expires: number | null
  /** Whether readers see the owner's name. */
  readonly named?: true
}

/** A shared copy in the user's list of them. */
export interface UserShare extends SessionShare {
  readonly session: string
  /** The URL of the page that shows it. */
  readonly url: string
}

/** The response to `GET /v1/shares/:share?page=`, oldest messages first. */
export interface SharedCopyPage {
  readonly title: string
  readonly created: number
  /** The name of the user who shared it, if readers may see it. */
  readonly author: string | null
  readonly messages: readonly WireMessage[]
  /** The number of the next page; null on the last one. */
  readonly next: number | null
}

/** The response to `POST /v1/sessions/:id/assets?name=<label>`, whose request body is the file. */
export interface UploadResponse extends Asset {
  /** The session already had a file with the same bytes; this is that asset. */
  readonly duplicate: boolean
}

/** The response to `POST /v1/sessions/:id/media/sign {urls}`. */
export interface SignResponse {
  /** One entry per requested URL, in the same order. `href` is null if the URL can't be fetched. */
  readonly signed: readonly { readonly url: string; readonly href: string | null }[]
  /** Time at which the first link expires, in seconds since 1970. */
  readonly expires: number
}

/** The response to `GET /v1/settings`. */
export interface PageSettings {
  /** Hosts whose media is loaded without a click. */
  readonly media_hosts: readonly string[]
  /** Origins whose documents may be framed. */
  readonly embed_origins: readonly string[]
  /** Whether the model gives titles to conversations, if the tenant has decided it. */
  readonly titles?: boolean | undefined
  /** Whether the model suggests questions after an answer. Absent: no. */
  readonly follow_ups?: boolean
  /** Whether users see what their answers cost. Absent: no. */
  readonly show_cost?: boolean
  /** Sites that may show the tenant's widget. Absent: none. */
  readonly embed_hosts?: readonly string[]
  /** Set while the tenant is leaving and can only be read: when it is erased, in milliseconds since 1970. */
  readonly erases_at?: number
  /** The tenant's theme. Absent: the default. */
  readonly theme?: PageTheme
}

/** A user of the tenant: the response to `GET /v1/users/:id`. */
export interface UserSummary {
  readonly id: string
  readonly name: string | null
  readonly role: "owner" | "admin" | "member" | "viewer"
  /** The name of the issuer with which the user signed in; null for users of the tenant's own tokens. */
  readonly issuer: string | null
  /** `erasing`: the user's data is being erased. */
  readonly status: "active" | "suspended" | "erasing"
  /** Time of the first contact, in milliseconds since 1970. */
  readonly created: number
}

/** The response to `GET /v1/users`: a page of users, by id. */
export interface UserPage {
  readonly users: readonly UserSummary[]
  /** The `after` parameter of the next page; null on the last one. */
  readonly next: string | null
  /** Only in a search: some users can't be found yet, because their names are still being indexed. */
  readonly incomplete?: true
}

/** Counts of the content that an export contains, an import has created, or an erasure has removed. */
export interface Tally {
  readonly users: number
  /** Conversations of users. */
  readonly sessions: number
  /** Conversations with agents that were asked within users' conversations. */
  readonly agent_sessions: number
  /** Stored files, and their bytes. */
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

/** The common fields of a tenant's exports and imports. Times are milliseconds since 1970. */
interface TenantTransfer<F> {
  readonly id: string
  readonly created: number
  readonly updated: number
  readonly tally: Tally
  /** The reason why it failed. */
  readonly fault: F | null
}

type FaultBody = Pick<WireFault, "code" | "text">

/** An export of the tenant: the response to `GET /v1/tenant/exports/:id`. */
export interface TenantExport<F = FaultBody> extends TenantTransfer<F> {
  readonly state: "running" | "done" | "failed"
  /** When its files are deleted. */
  readonly expires: number
  /** Number of files besides the manifest. */
  readonly parts: number
}

/** A scheduled backup of the tenant. */
export interface TenantBackup<F = FaultBody> extends TenantExport<F> {
  /** Its folder in the operator's bucket. */
  readonly folder: string
}

/** The response to `GET /v1/tenant/backups`. */
export interface BackupList<F = FaultBody> {
  /** Newest first. */
  readonly backups: readonly TenantBackup<F>[]
  /** For how many days backups are kept; null if the server makes none of this tenant. */
  readonly kept_days: number | null
}

/** An import into the tenant: the response to `GET /v1/tenant/imports/:id`. */
export interface TenantImport<F = FaultBody> extends TenantTransfer<F> {
  readonly state: "uploading" | "running" | "done" | "failed"
  /** The tenant that was exported. */
  readonly from: string
  readonly parts: number
  /** The first numbers of the files that were not uploaded yet. */
  readonly missing: readonly number[]
  /** Conversations that could not be imported. */
  readonly skipped: number
}

/** The receipt of an erasure: the response to `GET /v1/tenant/receipts/:id`. Times are milliseconds since 1970. */
export interface Receipt {
  readonly id: string
  readonly kind: "user" | "tenant"
  /** The id of what was erased. */
  readonly target: string
  readonly state: "running" | "done"
  readonly requested: number
  /** Null while it is running. */
  readonly finished: number | null
  /** Counts of the erased content. */
  readonly tally: Tally
  /**
   * When the platform's point-in-time recovery of storage ends; null while it is running. Until then, the owner of the platform's account
   * could restore the data.
   */
  readonly unrecoverable_after: number | null
}

/** An MCP server to which each user connects with their own account. */
export interface McpConnection {
  readonly server: string
  readonly connected: boolean
}

/** `GET /v1/connections` */
export interface McpConnectionList {
  readonly connections: readonly McpConnection[]
}

/** `POST /v1/connections/:server`: the URL at which the user grants access. */
export interface McpConnectionStart {
  readonly url: string
}
