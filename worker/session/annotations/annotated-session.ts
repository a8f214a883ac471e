/**
 * annotated-session.ts: the session object's calls about answers: feedback, usage, and the tools that the user always
 * allows.
 */

import { DurableObject } from "cloudflare:workers"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import type { AllowedTool, AnswerUsage, SessionAgent } from "../../../shared/protocol/writing/answer-usage.ts"
import type { AnswerFeedback, FeedbackInput } from "../../../shared/protocol/writing/feedback.ts"
import type { Env } from "../../env.ts"
import type { Claims, OwnerClaims } from "../../platform/rpc/claims.ts"
import type { BranchExport, FeedbackChange, InputAnswerRequest } from "../../platform/rpc/session-types.ts"
import type { LiveSession } from "../live-session.ts"
import type { SessionLifecycle } from "../session-lifecycle.ts"

export abstract class AnnotatedSession extends DurableObject<Env> {
  protected abstract getLifecycle(): SessionLifecycle

  async setFeedback(claims: Claims, message: string, feedback: FeedbackInput | null): Promise<Result<FeedbackChange>> {
    const { setFeedback } = await import("./session-feedback.ts")
    return this.#withOwn(claims, (session) => setFeedback(session, message, feedback, Date.now()))
  }

  async listFeedback(claims: Claims): Promise<Result<readonly AnswerFeedback[]>> {
    const { listFeedback } = await import("./session-feedback.ts")
    return this.#withReadable(claims, ({ store }) => succeed(listFeedback(store)))
  }

  async readAnswerUsage(claims: Claims, message: string): Promise<Result<AnswerUsage>> {
    const { readAnswerUsage } = await import("./sum-answer-usage.ts")
    return this.#withReadable(claims, ({ store }) => readAnswerUsage(store, message))
  }

  /** Suggests questions that the user could ask after the newest answer. */
  async suggestFollowUps(claims: Claims, message: string): Promise<Result<readonly string[]>> {
    const session = this.getLifecycle().find(claims)
    if (session === null) return fail({ reason: "session_unknown" })
    const { suggestFollowUps } = await import("../titles/follow-ups.ts")
    return succeed(await suggestFollowUps(session, message))
  }

  describeAgent(claims: Claims): Result<SessionAgent> {
    return this.#withReadable(claims, ({ agentView: { self } }) =>
      succeed({ name: self.name, effort: self.effort ?? null }),
    )
  }

  listAllowedTools(claims: Claims): Result<readonly AllowedTool[]> {
    return this.#withReadable(claims, ({ store }) => succeed(store.toolGrants.list()))
  }

  async allowTool(claims: Claims, tool: string): Promise<Result<readonly AllowedTool[]>> {
    const { allowTool } = await import("./allowed-tools.ts")
    return this.#withOwn(claims, (session) => session.withSeqRollback(() => allowTool(session, tool, Date.now())))
  }

  revokeTool(claims: Claims, tool: string): Result<readonly AllowedTool[]> {
    return this.#withOwn(claims, ({ store }) => {
      store.toolGrants.remove(tool)
      return succeed(store.toolGrants.list())
    })
  }

  /** Stores the user's answer to a question that a call asked. Errors: those of `answerInput`. */
  async answerInput(claims: Claims, callId: string, answer: InputAnswerRequest): Promise<Result<null>> {
    const { answerInput } = await import("../inputs/answer-input.ts")
    return this.#withOwn(claims, (session) => session.withSeqRollback(() => answerInput(session, callId, answer)))
  }

  async exportBranch(claims: Claims, message: string): Promise<Result<BranchExport>> {
    const { exportBranchUpTo } = await import("./export-branch-up-to.ts")
    const session = this.getLifecycle().find(claims)
    if (session === null) return fail({ reason: "session_unknown" })
    return await exportBranchUpTo(session, message, (done) => this.ctx.waitUntil(done))
  }

  #withOwn<T>(claims: OwnerClaims, run: (session: LiveSession) => Result<T>): Result<T> {
    const session = this.getLifecycle().find(claims)
    return session === null ? fail({ reason: "session_unknown" }) : run(session)
  }

  /**
   * Calls `run` with the session if the claims may read it. The routes that call this method admit only the owner, in
   * any role.
   */
  #withReadable<T>(claims: OwnerClaims, run: (session: LiveSession) => Result<T>): Result<T> {
    const session = this.getLifecycle().findReadable(claims)
    return session === null ? fail({ reason: "session_unknown" }) : run(session)
  }
}
