/**
 * settled-messages.ts: what is asked of a message that is not under way: to stop it again, or to take it back.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { TurnHost } from "./turn-run.ts"

/** A cancel of an answer that is not under way: said again it is the same, else it says clearly why not. */
export function cancelSettledAnswer(host: TurnHost, exchangeId: string): Result<number> {
  const { store } = host
  const newest = store.findMessageAt(store.readNewestPos())
  const externalPos = store.findExternalAnswerPos(exchangeId)
  const candidate =
    newest?.message.exchange_id === exchangeId ? newest : externalPos === null ? null : store.findMessageAt(externalPos)
  // An answer from outside answers no question.
  if (candidate?.message.mode === "external") {
    return candidate.message.status === "cancelled" ? succeed(candidate.seq) : fail({ reason: "turn_ended" })
  }
  const question = store.findById(exchangeId)
  if (question === null) return fail({ reason: "turn_unknown" })
  if (question.pos === null) return withdrawQueuedMessage(host, exchangeId)
  // The newest of its answers: an older version may have ended otherwise.
  const answer = store.findMessageAt(store.findNewestVersion(question.pos) ?? question.pos + 1)
  if (answer?.message.exchange_id !== exchangeId) return fail({ reason: "turn_unknown" })
  return answer.message.status === "cancelled" ? succeed(answer.seq) : fail({ reason: "turn_ended" })
}

/** Takes a message back that waits in the queue. */
export function withdrawQueuedMessage({ store, sockets, nextSeq }: TurnHost, id: string): Result<number> {
  const found = store.findById(id)
  if (found === null) return fail({ reason: "message_unknown" })
  if (found.isWithdrawn) return succeed(found.seq)
  if (found.pos !== null) return fail({ reason: "message_begun" })
  const seq = nextSeq()
  store.atomically(() => store.withdrawQueued(id, seq))
  const [withdrawn] = store.readWithdrawnSince(seq - 1)
  const ops = [{ op: "end", status: "cancelled", reason: null, metrics: null }] as const
  if (withdrawn !== undefined) sockets.sendOps(seq, ops, withdrawn)
  return succeed(seq)
}
