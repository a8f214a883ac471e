/**
 * begin-turn.ts: begins a turn by storing a question with its empty answer, or queues and withdraws the question.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { AgentTag } from "../../shared/protocol/event.ts"
import { createMessage, type Message } from "../../shared/protocol/message.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import { createTraceId } from "../telemetry/trace-id.ts"
import type { TurnHost } from "./turn-run.ts"

/** The two messages that begin a turn, as they are stored. */
export interface BegunTurn {
  readonly question: StoredMessage
  readonly answer: StoredMessage
}

/**
 * Stores and sends a message and its empty answer.
 * `queueNumber` is the message's number in the queue, from which it is removed; null if the message was not queued.
 */
export function beginTurn(host: TurnHost, user: Message, queueNumber: number | null = null): BegunTurn {
  const { store, sockets } = host
  const { newestPos, tip, isPathOpen } = store.readEnds()
  const pos = newestPos + 1
  // The trace is stored where it is shown, with the answer.
  const { trace = createTraceId(), ...message } = user
  const question: StoredMessage = { pos, parent: tip, seq: host.nextSeq(), deadline: null, message }
  const effort = user.effort === undefined ? {} : { effort: user.effort }
  const head = { id: host.nextId(), exchange_id: user.id, agent: toAnswerTag(user.agent), trace, ...effort }
  const answer = createEmptyAnswer(host, { pos: pos + 1, parent: pos }, head)
  store.atomically(() => {
    if (queueNumber !== null) store.deleteQueued(queueNumber)
    store.insertMessage(question, isPathOpen)
    recordAction(host, user)
    insertAnswer(host, answer, true)
  })
  sockets.sendMessage(question)
  sockets.sendMessage(answer)
  host.armAlarm()
  return { question, answer }
}

/**
 * Returns the agent tag of an answer. The answer to another agent's question is sent to that agent. The answer to an
 * agent's late answer is shown to the user.
 */
function toAnswerTag(questionTag: AgentTag | null): AgentTag | null {
  return questionTag === null || questionTag.call_id !== undefined ? null : { ...questionTag, direction: "sent" }
}

/** Stores an empty answer. If a program has to answer, the answer waits until one claims it. */
export function insertAnswer({ store }: TurnHost, answer: StoredMessage, isPathOpen = false): void {
  store.insertMessage(answer, isPathOpen)
  if (answer.message.mode === "external") store.insertUnclaimed(answer.pos, answer.message.exchange_id)
}

/**
 * Creates an answer without parts. The answer takes the next seq, so the caller must store it before taking another
 * seq. A program has to claim the answer of an external agent before the deadline.
 */
export function createEmptyAnswer(
  host: TurnHost,
  position: Pick<StoredMessage, "pos" | "parent">,
  head: Pick<Message, "id" | "exchange_id"> & Partial<Message>,
): StoredMessage {
  const now = host.now()
  const mode = host.currentAgent().isExternal ? { mode: "external" } : {}
  const message = createMessage({ role: "assistant", timestamp: new Date(now).toISOString(), ...mode, ...head })
  const limitMs = message.mode === "external" ? host.times.agentAnswerMs : host.times.turnMs
  return { ...position, seq: host.nextSeq(), deadline: now + limitMs, message }
}

/** Begins the turn of the oldest queued message. Returns null if the queue is empty. */
export function beginNextQueued(host: TurnHost): BegunTurn | null {
  const next = host.store.findNextQueued()
  return next === null ? null : beginTurn(host, { ...next.message, status: "completed" }, next.n)
}

/** Queues a message behind the active turn. Returns its seq. */
export function enqueueMessage(host: TurnHost, user: Message): number {
  const seq = host.nextSeq()
  const message: Message = { ...user, status: "queued" }
  host.store.atomically(() => {
    host.store.enqueueMessage(message, seq)
    recordAction(host, user)
  })
  host.sockets.sendMessage({ pos: 0, parent: null, seq, deadline: null, message })
  host.armAlarm()
  return seq
}

/** Records that the card's action is considered done from now on (SPEC KA3). */
function recordAction({ store }: TurnHost, { action, id }: Message): void {
  if (action !== undefined) store.cardActions.put(action, id)
}

/** Withdraws a queued message. Repeating the call has no effect. Returns the seq of its write. */
export function withdrawQueued({ store, sockets, nextSeq }: TurnHost, id: string): Result<number> {
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

type MessageExtras = Pick<Message, "reply_to" | "attachments" | "trace" | "action" | "effort" | "mode">

/** Creates a user's message. The caller has already validated its content. */
export function createUserMessage(
  id: string,
  content: string,
  now: number,
  extras: Partial<MessageExtras> = {},
): Message {
  // The store and the frames are UTF-8, which cannot represent a lone surrogate: it becomes U+FFFD in both.
  const words = content.trim() === "" ? "" : content.toWellFormed()
  const timestamp = new Date(now).toISOString()
  return createMessage({ id, role: "user", exchange_id: id, status: "completed", words, timestamp, ...extras })
}
