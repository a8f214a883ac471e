/**
 * producer-ingress.ts: the entry point for the external producers of one session.
 *
 * The ingress checks that a token is for this session, and keeps track of open requests so that a revocation can stop
 * them.
 * An external answer is written and shown like a model's. While it is open, the session is busy (SPEC EX1–EX22).
 */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { isRevoked, NO_REVOCATIONS } from "../../auth/revocation.ts"
import type { Env } from "../../env.ts"
import { log } from "../../platform/log.ts"
import { SessionErasedError } from "../../store/storage-gate.ts"
import type { LiveSession } from "../live-session.ts"
import { authorizeProducer, readExternalState, writeCompleteAnswer } from "./producer-answers.ts"
import { ProducerRequest } from "./producer-request.ts"
import type { Claims } from "../../platform/rpc/claims.ts"
import type { RevocationState } from "../../platform/rpc/directory-rpc.ts"
import { directoryStub } from "../../platform/rpc/object-stubs.ts"
import type { AnswerRef, CompleteAnswerState, ExternalState, IngestResult } from "../../platform/rpc/session-types.ts"

export class ProducerIngress {
  readonly #env: Env
  readonly #openRequests = new Set<ProducerRequest>()
  #revoked: RevocationState = NO_REVOCATIONS

  constructor(env: Env) {
    this.#env = env
  }

  /**
   * Reads one request to its end, or until it is stopped.
   *
   * Errors: `session_unknown`, and those of `DirectoryRpc.authorizeSocket`. Faults of the records are in the result.
   */
  async ingestRecords(
    session: LiveSession | null,
    claims: Claims,
    answerRef: AnswerRef,
    body: ReadableStream<Uint8Array> | null,
  ): Promise<Result<IngestResult>> {
    const authorized = authorizeProducer(session, claims)
    if (authorized === null) return fail({ reason: "session_unknown" })
    // From this call on, the directory reports revocations to this object, as for a socket (SPEC AU8).
    const admitted = await directoryStub(this.#env, claims).authorizeSocket(claims, authorized.row.id)
    if (!admitted.ok) return admitted
    // A revocation that arrived during that call could not yet stop this request.
    if (isRevoked(claims, this.#revoked)) return fail({ reason: "token_revoked" })
    this.#reportActivity(authorized)
    const request = new ProducerRequest(authorized, claims, answerRef, body, this.#openRequests)
    this.#openRequests.add(request)
    try {
      await request.read()
      return succeed(request.result())
    } catch (error) {
      if (error instanceof SessionErasedError) return fail({ reason: "session_unknown" })
      throw error
    } finally {
      request.dispose()
      this.#openRequests.delete(request)
    }
  }

  acceptCompleteAnswer(
    session: LiveSession | null,
    claims: Claims,
    answerRef: AnswerRef,
    text: string,
  ): Result<CompleteAnswerState> {
    const authorized = authorizeProducer(session, claims)
    if (authorized === null) return fail({ reason: "session_unknown" })
    this.#reportActivity(authorized)
    return authorized.withSeqRollback(() => writeCompleteAnswer(authorized, answerRef, text))
  }

  readState(session: LiveSession | null, claims: Claims, id: string): Result<ExternalState> {
    const authorized = authorizeProducer(session, claims)
    if (authorized === null) return fail({ reason: "session_unknown" })
    const state = readExternalState(authorized, id)
    return state === null ? fail({ reason: "turn_unknown" }) : succeed(state)
  }

  /** Stops the requests of revoked tokens. */
  stopRevoked(newest: RevocationState): void {
    if (newest.n > this.#revoked.n) this.#revoked = newest
    for (const request of this.#openRequests) {
      if (isRevoked(request.claims, this.#revoked)) request.stop({ reason: "token_revoked" })
    }
  }

  #reportActivity({ row }: LiveSession): void {
    const recorded = directoryStub(this.#env, row).recordActivity(row.id, Date.now())
    recorded.catch(() => log("touch_failed", { id: row.id }))
  }
}
