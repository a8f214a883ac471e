/**
 * session-rpc.ts: the RPC interface of a session object (`session/session-object.ts`).
 *
 * `Env` names this interface instead of the class, so that no module needs to import the class.
 */

import type { Result, TurnFault } from "../../../shared/fault.ts"
import type { AllowedTool, AnswerUsage, SessionAgent } from "../../../shared/protocol/writing/answer-usage.ts"
import type { Asset } from "../../../shared/protocol/event.ts"
import type {
  ImportAnswer,
  ImportProgress,
  SessionShare,
  SessionViewer,
  SharedSession,
} from "../../../shared/protocol/http-body.ts"
import type { AnswerFeedback, FeedbackInput } from "../../../shared/protocol/writing/feedback.ts"
import type { Claims, OwnerClaims, SessionOwner } from "./claims.ts"
import type { RevocationState } from "./directory-rpc.ts"
import type { FoundMessages, MessageQuery, SearchUpdate } from "./search-types.ts"
import type {
  AcceptedMessage,
  AnswerRef,
  AskAnswer,
  AskCallback,
  AskRequest,
  ClaimedQuestion,
  AssetEntry,
  BranchExport,
  CompleteAnswerState,
  ExportFormat,
  ExternalState,
  FeedbackChange,
  ImportPart,
  IngestResult,
  InputAnswerRequest,
  LateToolResult,
  PageQuery,
  PageText,
  SendRequest,
  ShareRequest,
  StoredAsset,
  StoredSession,
} from "./session-types.ts"

/**
 * Methods with the parameter `claims` or `owner` fail with `session_unknown` if the session belongs to another user.
 * Methods that only read also accept the claims of a viewer (`sharedBy`).
 */
export interface SessionRpc extends Rpc.DurableObjectBranded {
  /** Creates the session. Repeating the call has no effect. Errors: `agent_unknown`. */
  create(claims: Claims, id: string, title: string, agent?: string, isTemporary?: boolean): Promise<Result<null>>
  checkOwner(claims: OwnerClaims): Result<null>
  /** Checks that the claims are those of the session's owner or of a user with whom it is shared. */
  checkReader(claims: OwnerClaims): Result<null>
  /**
   * Shares the session with a user. Returns the entry for that user's list. Repeating the call has no effect. Errors:
   * `viewers_full`.
   */
  addViewer(claims: OwnerClaims, viewer: string): Result<SharedSession>
  /** Ends sharing with a user and closes their sockets. Repeating the call has no effect. */
  removeViewer(claims: OwnerClaims, viewer: string): Result<null>
  listViewers(claims: OwnerClaims): Result<readonly SessionViewer[]>
  /**
   * Makes a shared copy of the active path up to a message. Errors: `share_links_full`, `share_too_large`,
   * `message_unknown`.
   */
  createShare(claims: OwnerClaims, request: ShareRequest): Promise<Result<SessionShare>>
  listShares(claims: OwnerClaims): Promise<Result<readonly SessionShare[]>>
  /** Deletes a shared copy. Repeating the call has no effect. */
  deleteShare(claims: OwnerClaims, id: string): Promise<Result<null>>
  /** Renames the session. This does not count as activity. */
  renameSession(claims: Claims, title: string): Promise<Result<null>>
  /** Stops all work, closes the sockets and erases all stored data. Does not update the directory. */
  erase(owner: SessionOwner, withAgents?: boolean): Promise<Result<null>>

  /** Sends a message. `trace` is the id of the turn in the log. If it is absent, the object generates one. */
  send(claims: Claims, request: SendRequest, trace?: string): Promise<Result<AcceptedMessage>>
  /**
   * Stops the answer of an exchange, or the running answer if the id is null. Returns the exchange that was stopped.
   * Errors: `turn_ended`, `turn_unknown`.
   */
  cancel(claims: Claims, exchangeId: string | null): Result<{ readonly exchange_id: string; readonly seq: number }>
  /** Returns a page of history. Errors: `message_unknown` if `around` or `after` is not on the active path. */
  readHistoryPage(claims: Claims, query: PageQuery): Promise<Result<PageText>>
  /** Searches the messages of the active path. Errors: `field_invalid`. */
  searchMessages(claims: Claims, query: MessageQuery): Promise<Result<FoundMessages>>

  /**
   * Reserves an id for a user's upload. Errors: `assets_full`, `storage_full`, `tenant_storage_full`, budget errors.
   */
  reserveAsset(claims: Claims, size: number): Promise<Result<string>>
  /** Commits an upload after its bytes were written to the bucket. Errors: `asset_store_failed`. */
  commitAsset(claims: Claims, asset: Asset, hash: string): Result<StoredAsset>
  /** Removes the reservation of an upload whose bytes were deleted. */
  discardAsset(claims: Claims, id: string): Result<null>
  /** Returns the assets with these ids, or null for each id that does not exist. */
  findAssets(claims: Claims, ids: readonly string[]): Result<readonly (Asset | null)[]>

  /** Applies a producer's records as they arrive. Resolves when the stream ends. */
  ingestRecords(
    claims: Claims,
    answerRef: AnswerRef,
    body: ReadableStream<Uint8Array> | null,
  ): Promise<Result<IngestResult>>
  /** Stores a producer's answer that arrives in one piece. */
  writeExternalAnswer(claims: Claims, answerRef: AnswerRef, text: string): Promise<Result<CompleteAnswerState>>
  readExternalState(claims: Claims, id: string): Promise<Result<ExternalState>>

  /** Exports the whole transcript as JSONL, or its active path as Markdown, from the beginning or after a position. */
  export(
    claims: Claims,
    after: number | null,
    format?: ExportFormat,
  ): Promise<Result<{ readonly lines: ReadableStream }>>
  /** Imports a file of records, or a part of such a file. Records that cannot be folded at once are folded later. */
  import(claims: Claims, body: ReadableStream<Uint8Array>, importPart?: ImportPart): Promise<Result<ImportAnswer>>
  importProgress(claims: Claims): Promise<Result<ImportProgress>>

  /** Sets or removes the feedback on an answer. Errors: `message_unknown`, `field_invalid`. */
  setFeedback(claims: Claims, message: string, feedback: FeedbackInput | null): Promise<Result<FeedbackChange>>
  listFeedback(claims: Claims): Promise<Result<readonly AnswerFeedback[]>>
  /** Returns the model calls of one answer, with their cost. Errors: `message_unknown`. */
  readAnswerUsage(claims: Claims, message: string): Promise<Result<AnswerUsage>>
  listAllowedTools(claims: Claims): Result<readonly AllowedTool[]>
  /**
   * Suggests questions that the user could ask next. Returns an empty list unless the message is the newest answer and
   * the tenant has enabled suggestions.
   */
  suggestFollowUps(claims: Claims, message: string): Promise<Result<readonly string[]>>
  /** Returns the agent that answers, and its effort. */
  describeAgent(claims: Claims): Result<SessionAgent>
  /** Allows all calls of a tool in this session, now and later. Errors: `field_invalid`. */
  allowTool(claims: Claims, tool: string): Promise<Result<readonly AllowedTool[]>>
  /**
   * Stores the user's answer to a question that a tool call asked. Errors: `session_unknown`, `call_unknown`,
   * `call_decided`, `field_invalid`.
   */
  answerInput(claims: Claims, callId: string, answer: InputAnswerRequest): Promise<Result<null>>
  /** Removes a tool from the allowed ones. Repeating the call has no effect. */
  revokeTool(claims: Claims, tool: string): Result<readonly AllowedTool[]>

  /**
   * Exports a copy of the active path up to a message. Errors: `message_unknown`; `turn_running` if the message hasn't
   * ended.
   */
  exportBranch(claims: Claims, message: string): Promise<Result<BranchExport>>

  /**
   * Accepts the result of a call that the tenant's service answers later. `id` is the id that was sent with the call.
   * Errors: `result_unexpected`.
   */
  acceptToolResult(result: LateToolResult): Promise<Result<null>>
  /** Assigns to the caller the question that is waiting for a program, and returns it. Errors: `turn_ended`. */
  claimQuestion(owner: SessionOwner, id: string): Result<ClaimedQuestion>
  /** Accepts a question from another agent's session, and creates this session if necessary. */
  acceptAsk(request: AskRequest): Promise<Result<null, TurnFault>>
  /** Whether a question from this session is still open. */
  isAskOpen(owner: SessionOwner, id: string): boolean
  /** Resolves with the answer to a question that was accepted here. */
  waitForAnswer(owner: SessionOwner, id: string): Promise<AskAnswer>
  /** Cancels a question that was accepted here: its turn is stopped or does not start. */
  cancelAsk(owner: SessionOwner, id: string): void
  /** Accepts a late answer to a question of this session. Repeating the call has no effect. */
  acceptCallback(owner: SessionOwner, callback: AskCallback): void
  /** Returns the sessions whose answers the running turn is waiting for. */
  listAwaitedSessions(owner: SessionOwner): string[]

  /** Returns the stored data of the session, except its transcript and assets. */
  describe(owner: SessionOwner): Result<StoredSession>
  /** Lists up to `limit` complete assets by id, from the beginning or after an id. */
  listAssetEntries(owner: SessionOwner, after: string | null, limit: number): Result<readonly AssetEntry[]>
  /** Creates the session from its description, without its transcript and assets. Repeating the call has no effect. */
  restoreSession(owner: SessionOwner, stored: StoredSession): Promise<Result<null>>
  /**
   * Reserves an asset that is being restored under its id. Returns false if the asset is already complete. Errors:
   * `assets_full`; `asset_store_failed` if an earlier reservation is being removed.
   */
  reserveRestored(owner: SessionOwner, entry: AssetEntry): Result<boolean>
  /**
   * Completes a restored asset whose bytes are in the bucket. Errors: `asset_store_failed` if the reservation expired.
   */
  commitRestored(owner: SessionOwner, entry: AssetEntry): Result<null>
  /** Closes all sockets. Their clients reconnect with the current rights of their tokens. */
  closeSockets(): void
  /**
   * Called by the owner's directory: while the session is hidden, it can be read but not changed. Repeating the call
   * has no effect. Errors: `session_unknown`.
   */
  setHidden(owner: SessionOwner, isHidden: boolean): Result<null>
  /** Returns the text of the finished turns after a position, for the search index. Called by the owner's directory. */
  readTurnTexts(owner: SessionOwner, after: number): Promise<Result<SearchUpdate>>
  /** Returns how many sockets a user, the owner or a viewer, has open. Called by the user's directory. */
  countSockets(user: string): number

  /** Called by the directory of the owner or of a viewer: closes the sockets and producer streams of revoked tokens. */
  revoke(owner: SessionOwner, revoked: RevocationState): void
}
