/**
 * settled-messages.ts: what is asked of a message that is not under way: to stop it again, or to take it back.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { TurnHost } from "./turn-run.ts"

/** A cancel of an answer that is not under way: said again it is the same, else it says clearly why not. */
export function notRunning(host: TurnHost, exchange: string): Result<number> {
  const { store } = host
  const newest = store.at(store.newestPos())
  const outside = store.outsideAnswer(exchange)
  const told = newest?.message.exchange_id === exchange ? newest : outside === null ? null : store.at(outside)
  // An answer from outside answers no question.
  if (told?.message.mode === "external") {
    return told.message.status === "cancelled" ? succeed(told.seq) : fail({ reason: "turn_ended" })
  }
  const question = store.find(exchange)
  if (question === null) return fail({ reason: "turn_unknown" })
  if (question.pos === null) return withdraw(host, exchange)
  // The newest of its answers: an older version may have ended otherwise.
  const answer = store.at(store.newestVersion(question.pos) ?? question.pos + 1)
  if (answer?.message.exchange_id !== exchange) return fail({ reason: "turn_unknown" })
  return answer.message.status === "cancelled" ? succeed(answer.seq) : fail({ reason: "turn_ended" })
}

/** Takes a message back that waits in the queue. */
export function withdraw({ store, sockets, nextSeq }: TurnHost, id: string): Result<number> {
  const found = store.find(id)
  if (found === null) return fail({ reason: "message_unknown" })
  if (found.isWithdrawn) return succeed(found.seq)
  if (found.pos !== null) return fail({ reason: "message_begun" })
  const seq = nextSeq()
  store.atomically(() => store.withdraw(id, seq))
  const [withdrawn] = store.withdrawnSince(seq - 1)
  const ops = [{ op: "end", status: "cancelled", reason: null, metrics: null }] as const
  if (withdrawn !== undefined) sockets.sendOps(seq, ops, withdrawn)
  return succeed(seq)
}
