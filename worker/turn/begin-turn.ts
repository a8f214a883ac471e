/**
 * begin-turn.ts: how a turn begins: its question and the empty answer to it are stored together, or the question waits.
 *
 * accept, queue → OPENING → rows, sockets → turn
 */

import type { AgentTag } from "../../shared/protocol/event.ts"
import { type Message, openMessage } from "../../shared/protocol/message.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { TurnHost } from "./turn-run.ts"

/** Stores and shows a message and the empty answer to it; the one that waited at `n` of the queue waits no more. */
export function beginTurn(host: TurnHost, user: Message, n: number | null = null): number {
  const { store, sockets } = host
  const pos = store.newestPos() + 1
  const question: StoredMessage = { pos, parent: store.tip(), seq: host.nextSeq(), deadline: null, message: user }
  const head = { id: host.nextId(), exchange_id: user.id, agent: backTo(user.agent) }
  const answer = emptyAnswer(host, { pos: pos + 1, parent: pos }, head)
  store.atomically(() => {
    if (n !== null) store.dropQueued(n)
    store.insertMessage(question)
    store.insertMessage(answer)
  })
  sockets.sendMessage(question)
  sockets.sendMessage(answer)
  host.armAlarm()
  return question.seq
}

/** The answer to what an agent asked goes back to it; that to what an agent answered is the reader's. */
function backTo(agent: AgentTag | null): AgentTag | null {
  return agent === null || agent.call_id !== undefined ? null : { ...agent, direction: "sent" }
}

/** An answer before anything happened in it. It is given its seq here, so it is to be stored at once. */
export function emptyAnswer(
  host: TurnHost,
  place: Pick<StoredMessage, "pos" | "parent">,
  head: Pick<Message, "id" | "exchange_id"> & Partial<Message>,
): StoredMessage {
  const now = host.now()
  const message = openMessage({ role: "assistant", timestamp: new Date(now).toISOString(), ...head })
  return { ...place, seq: host.nextSeq(), deadline: now + host.times.turnMs, message }
}

/** Begins the turn of the message that waits longest; false where none waits. */
export function beginNext(host: TurnHost): boolean {
  const next = host.store.nextQueued()
  if (next === null) return false
  beginTurn(host, { ...next.message, status: "completed" }, next.n)
  return true
}

/** Puts a message behind the turn that runs; the seq it was given. */
export function enqueue(host: TurnHost, user: Message): number {
  const seq = host.nextSeq()
  const message: Message = { ...user, status: "queued" }
  host.store.pushQueue(message, seq)
  host.sockets.sendMessage({ pos: 0, parent: null, seq, deadline: null, message })
  host.armAlarm()
  return seq
}

/** What stands beside the words of a message. */
type Beside = Pick<Message, "reply_to" | "attachments">

/** A user's message as it is accepted; its content was checked before. */
export function userMessage(id: string, content: string, now: number, beside: Partial<Beside> = {}): Message {
  // The store is UTF-8: what cannot be said in it is said with U+FFFD, in the frame too (law 1).
  const words = content.trim() === "" ? "" : content.toWellFormed()
  const timestamp = new Date(now).toISOString()
  return openMessage({ id, role: "user", exchange_id: id, status: "completed", words, timestamp, ...beside })
}
