/**
 * webhook-question.ts: sends an external agent's question to the tenant's service, and writes the service's answer.
 * Loaded on demand. Source: SPEC EA6 to EA8.
 *
 * empty answer in the rows ▶ WEBHOOK QUESTION ▶ POST ▶ text, or 202 and records later (producer-ingress.ts)
 * The alarm sends the question again, with the same id, until the service has answered or the time has run out.
 */

import { isJsonObject, parseJson } from "../../../shared/json.ts"
import { MAX_ERROR_CHARS } from "../../../shared/limits.ts"
import { cutText } from "../../../shared/text/cut-text.ts"
import { QUESTION_TOKEN_SECONDS } from "../../../shared/listener-limits.ts"
import { claimOpenQuestion, findUnclaimedAnswer, readQuestionText } from "../../agent/program-question.ts"
import { issueNewToken } from "../../auth/new-token.ts"
import type { Env } from "../../env.ts"
import { describeError } from "../../platform/log.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { keyToPublicId } from "../../platform/session-key.ts"
import { startTimeout } from "../../platform/timeout.ts"
import type { StoredMessage } from "../../store/row-codec.ts"
import { SessionErasedError } from "../../store/storage-gate.ts"
import { finishRun, type TurnRun } from "../../turn/turn-run.ts"
import { computeDeliveryId } from "../../webhook/delivery-id.ts"
import { postSigned, type WebhookMessage, type WebhookResponse } from "../../webhook/post-signed.ts"
import type { LiveSession } from "../live-session.ts"

/** Returns a function that sends the open question unless it is already being sent. The function never rejects. */
export function createQuestionSender(env: Env, session: LiveSession): () => Promise<void> {
  let sendingId: string | null = null
  return async () => {
    const answer = findUnclaimedAnswer(session.store)
    const run = answer === null || answer.message.id === sendingId ? null : session.turns.currentRun()
    if (answer === null || run === null || run.producer === null) return
    const { id } = answer.message
    sendingId = id
    try {
      applyResponse(session, id, await sendQuestion(env, session, answer, run))
    } catch (error) {
      // Nothing is logged if the answer was stopped or the session was erased. Otherwise, the alarm sends the question
      // again.
      if (!run.abort.signal.aborted && !(error instanceof SessionErasedError))
        session.log("external_error", { error: describeError(error) })
    } finally {
      if (sendingId === id) sendingId = null
    }
  }
}

async function sendQuestion(
  env: Env,
  session: LiveSession,
  answer: StoredMessage,
  { abort }: TurnRun,
): Promise<WebhookResponse> {
  const endpoint = await tenantStub(env, session.row.tenant).openAgentWebhook(session.agentName())
  if (endpoint === null) return { kind: "refused", details: "The agent has no service with a secret." }
  const message = await createMessage(env, session, answer)
  const timeout = startTimeout(abort.signal, session.host.times.toolMs)
  try {
    return await postSigned(env, endpoint, message, timeout.signal)
  } catch (error) {
    if (abort.signal.aborted || !timeout.hasExpired()) throw error
    return { kind: "retry" }
  } finally {
    timeout.clear()
  }
}

/**
 * Creates the message. It contains a token and an id, as a question to a program does, so that the service can also
 * stream its answer.
 */
async function createMessage(
  env: Env,
  { row, store, agentName }: LiveSession,
  answer: StoredMessage,
): Promise<WebhookMessage> {
  const { tenant, user, id: key } = row
  const session = keyToPublicId(key)
  const claims = { tenant, user, scope: "external", session } as const
  const { token, expires } = await issueNewToken(env, claims, QUESTION_TOKEN_SECONDS, Date.now())
  const text = readQuestionText(store, answer)
  const data = { id: answer.message.id, agent: agentName(), text, user, session, token, expires }
  const id = await computeDeliveryId(row, answer.message.id, "question")
  return { id, body: JSON.stringify({ type: "agent.question", data }) }
}

function applyResponse(session: LiveSession, id: string, response: WebhookResponse): void {
  if (response.kind === "retry") return
  // The service may already be streaming its answer, or a user may have stopped it.
  if (!claimOpenQuestion(session, id).ok || response.kind === "later") return
  const run = session.turns.currentRun()
  if (run !== null) session.withSeqRollback(() => writeAnswer(session, run, readAnswer(response)))
}

interface ServiceAnswer {
  readonly text: string
  readonly isFailed: boolean
}

/** Reads the response: `{text}` is an answer, and `{error}` is the service's description of a failure. */
function readAnswer(response: Exclude<WebhookResponse, { kind: "retry" | "later" }>): ServiceAnswer {
  const value = response.kind === "refused" ? undefined : parseJson(response.text)
  const { text, error } = isJsonObject(value) ? value : {}
  if (typeof error === "string") return { text: cutText(error, MAX_ERROR_CHARS).toWellFormed(), isFailed: true }
  if (response.kind === "refused" || !response.ok || typeof text !== "string") return { text: "", isFailed: true }
  return { text: text.toWellFormed(), isFailed: text.trim() === "" }
}

function writeAnswer({ host }: LiveSession, run: TurnRun, { text, isFailed }: ServiceAnswer): void {
  if (text.trim() !== "") {
    run.recorder.feed({ type: "step_start" })
    run.recorder.feed({ type: "text_delta", delta: text })
  }
  finishRun(host, run, isFailed ? "failed" : "completed", isFailed ? "producer_failed" : null)
  host.resume()
}
