/**
 * begin-turn.ts: how a turn begins: its question and the empty answer to it are stored together, or the question waits.
 *
 * accept, queue → OPENING → rows, sockets → turn
 */

import type { AgentTag } from "../../shared/protocol/event.ts"
import { type Message, createMessage } from "../../shared/protocol/message.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { TurnHost } from "./turn-run.ts"

/** Stores and shows a message and the empty answer to it; the one that waited at `n` of the queue waits no more. */
export function beginTurn(host: TurnHost, user: Message, n: number | null = null): number {
  const { store, sockets } = host
  const pos = store.readNewestPos() + 1
  const question: StoredMessage = { pos, parent: store.readTip(), seq: host.nextSeq(), deadline: null, message: user }
  const head = { id: host.nextId(), exchange_id: user.id, agent: toAnswerTag(user.agent) }
  const emptyAnswer = createEmptyAnswer(host, { pos: pos + 1, parent: pos }, head)
  store.atomically(() => {
    if (n !== null) store.deleteQueued(n)
    store.insertMessage(question)
    store.insertMessage(emptyAnswer)
  })
  sockets.sendMessage(question)
  sockets.sendMessage(emptyAnswer)
  host.armAlarm()
  return question.seq
}

/** The answer to what an agent asked goes back to it; that to what an agent answered is the reader's. */
function toAnswerTag(questionTag: AgentTag | null): AgentTag | null {
  return questionTag === null || questionTag.call_id !== undefined ? null : { ...questionTag, direction: "sent" }
}

/** An answer before anything happened in it. It is given its seq here, so it is to be stored at once. */
export function createEmptyAnswer(
  host: TurnHost,
  position: Pick<StoredMessage, "pos" | "parent">,
  head: Pick<Message, "id" | "exchange_id"> & Partial<Message>,
): StoredMessage {
  const now = host.now()
  const message = createMessage({ role: "assistant", timestamp: new Date(now).toISOString(), ...head })
  return { ...position, seq: host.nextSeq(), deadline: now + host.times.turnMs, message }
}

/** Begins the turn of the message that waits longest; false where none waits. */
export function beginNextQueued(host: TurnHost): boolean {
  const next = host.store.findNextQueued()
  if (next === null) return false
  beginTurn(host, { ...next.message, status: "completed" }, next.n)
  return true
}

/** Puts a message behind the turn that runs; the seq it was given. */
export function enqueueMessage(host: TurnHost, user: Message): number {
  const seq = host.nextSeq()
  const message: Message = { ...user, status: "queued" }
  host.store.enqueueMessage(message, seq)
  host.sockets.sendMessage({ pos: 0, parent: null, seq, deadline: null, message })
  host.armAlarm()
  return seq
}

/** What stands beside the words of a message. */
type MessageExtras = Pick<Message, "reply_to" | "attachments">

/** A user's message as it is accepted; its content was checked before. */
export function createUserMessage(
  id: string,
  content: string,
  now: number,
  extras: Partial<MessageExtras> = {},
): Message {
  // The store is UTF-8: what cannot be said in it is said with U+FFFD, in the frame too (law 1).
  const words = content.trim() === "" ? "" : content.toWellFormed()
  const timestamp = new Date(now).toISOString()
  return createMessage({ id, role: "user", exchange_id: id, status: "completed", words, timestamp, ...extras })
}
