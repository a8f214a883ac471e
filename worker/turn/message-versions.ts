/**
 * message-versions.ts: other versions of what was said: another answer, another question, one run again from where it failed;
 * and the way back to an earlier one.
 *
 * socket → REVISE → store (a version under the same parent), epoch → turn
 * Nothing is overwritten. Which version is active is where the path ends (`session.tip`); a version that is left keeps
 * the end of its own path for its return, so a switch costs the same in any session.
 */

import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import { isEnded, type Message } from "../../shared/protocol/message.ts"
import { findContentFault } from "./accept-message.ts"
import { countFinishedSteps } from "./turn-recovery.ts"
import type { TurnHost } from "./turn-run.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import { createEmptyAnswer, createUserMessage } from "./begin-turn.ts"
import type { TurnScheduler } from "./turn-scheduler.ts"
import type { AcceptedMessage } from "../platform/rpc/session-types.ts"

export type RevisionFrame = Extract<ClientFrame, { type: "regenerate" | "edit" | "retry" | "switch" }>

/** Switches whose ids are remembered: more than any page keeps unacknowledged. */
const MAX_SWITCHES = 64

export interface RevisionContext {
  readonly host: TurnHost
  readonly turns: TurnScheduler
  /** Tokens that a message may have. */
  readonly maxMessageTokens: () => number
  /** Another version is active from here on: every client reads history again. */
  readonly setEpoch: (epoch: string) => void
}

/**
 * Obeys one of the four frames.
 *
 * Shapes  Revision → Accepted. The same id again has no second effect.
 * Errors  `turn_running`, `message_unknown`, `version_unknown`, `turn_whole`, those of a message's content, and
 *         `frame_invalid` where the frame names a message of the wrong role. Nothing is stored then.
 * Cost    flat in the length of the session, but for the logarithm of how far back the message lies.
 * Source  SPEC VE1–VE6.
 */
export function reviseMessage(context: RevisionContext, frame: RevisionFrame): Result<AcceptedMessage> {
  const { host, turns } = context
  const { store } = host
  const known = store.findById(frame.id)
  if (known !== null) {
    // Its id is that of what it made: of anything else it cannot be said to be done.
    const expectedRole = frame.type === "switch" ? null : frame.type === "edit" ? "user" : "assistant"
    if (known.role !== expectedRole || known.isWithdrawn) return fail({ reason: "frame_invalid", field: "id" })
    return succeed({ id: frame.id, seq: known.seq, duplicate: true })
  }
  if (frame.type === "switch" && store.readSession()?.switches.includes(frame.id) === true) {
    return succeed({ id: frame.id, seq: store.readLastSeq(), duplicate: true })
  }
  if (store.findExternalAnswerPos(frame.id) !== null) return fail({ reason: "frame_invalid", field: "id" })
  if (turns.isActive() || store.countQueued() > 0) return fail({ reason: "turn_running" })
  const pos = store.findById(frame.message)?.pos ?? null
  const target = pos === null || !store.isOnPath(pos) ? null : store.findMessageAt(pos)
  if (target === null) return fail({ reason: "message_unknown" })
  const fault = findRevisionFault(context, frame, target.message)
  if (fault !== null) return fail(fault)
  const seq = frame.type === "switch" ? switchVersion(context, frame, target) : createVersion(context, frame, target)
  return seq === null ? fail({ reason: "version_unknown" }) : succeed({ id: frame.id, seq, duplicate: false })
}

function findRevisionFault(
  { maxMessageTokens }: RevisionContext,
  frame: RevisionFrame,
  message: Message,
): Fault | null {
  const { role, status, mode, attachments } = message
  const wrongTarget: Fault = { reason: "frame_invalid", field: "message" }
  // Our model is never asked for what somebody outside has said.
  if (mode === "external" && (frame.type === "regenerate" || frame.type === "retry")) return wrongTarget
  switch (frame.type) {
    case "switch":
      return null
    case "edit":
      return role === "user" ? findContentFault(frame.content, maxMessageTokens(), attachments.length > 0) : wrongTarget
    case "regenerate":
      return role === "assistant" && isEnded(status) ? null : wrongTarget
    case "retry":
      if (role !== "assistant") return wrongTarget
      return status === "completed" ? { reason: "turn_whole" } : null
  }
}

function switchVersion(
  { host, setEpoch }: RevisionContext,
  frame: Extract<RevisionFrame, { type: "switch" }>,
  target: StoredMessage,
) {
  const { store } = host
  const { parent, pos, message } = target
  const switches = [...(store.readSession()?.switches ?? []), frame.id].slice(-MAX_SWITCHES)
  if (frame.version === message.version) {
    store.setSwitches(switches)
    return store.readLastSeq()
  }
  const tip = store.findVersionTip(parent, frame.version)
  if (tip === null) return null
  const epoch = host.nextId()
  store.atomically(() => {
    store.setVersionTip(pos, store.readTip())
    store.setActivePath(epoch, tip)
    store.setSwitches(switches)
  })
  setEpoch(epoch)
  return store.readLastSeq()
}

/** A new version in the place of the target, and the turn that it begins. */
function createVersion(
  { host, turns, setEpoch }: RevisionContext,
  frame: Exclude<RevisionFrame, { type: "switch" }>,
  target: StoredMessage,
) {
  const { store } = host
  const epoch = host.nextId()
  const version = store.countVersions(target.parent) + 1
  const created = store.atomically(() => {
    store.setVersionTip(target.pos, store.readTip())
    const stored =
      frame.type === "edit"
        ? createQuestionVersion(host, frame, target, version)
        : createAnswerVersion(host, frame, target, version)
    store.setActivePath(epoch, null)
    return stored
  })
  setEpoch(epoch)
  turns.startVersion(created)
  return created[0]?.seq ?? store.readLastSeq()
}

function createQuestionVersion(
  host: TurnHost,
  { id, content }: Extract<RevisionFrame, { type: "edit" }>,
  { parent, pos: first, message: { reply_to, attachments } }: StoredMessage,
  version: number,
): StoredMessage[] {
  const { store } = host
  const pos = store.readNewestPos() + 1
  // Other words: what they answer, and the files that stand with them, stay.
  const revised = createUserMessage(id, content, host.now(), { reply_to, attachments })
  const message: Message = { ...revised, version, versions: version }
  const question: StoredMessage = { pos, parent, seq: host.nextSeq(), deadline: null, message }
  store.insertMessage(question)
  store.addVersion(parent, first, version, pos)
  const answer = createEmptyAnswer(host, { pos: pos + 1, parent: pos }, { id: host.nextId(), exchange_id: id })
  store.insertMessage(answer)
  return [question, answer]
}

/** A retry keeps the finished steps of the answer that failed; a regeneration keeps none. */
function createAnswerVersion(
  host: TurnHost,
  { type, id }: Extract<RevisionFrame, { type: "regenerate" | "retry" }>,
  { parent, pos: from, message }: StoredMessage,
  version: number,
): StoredMessage[] {
  const { store } = host
  const pos = store.readNewestPos() + 1
  const { exchange_id, summary, agent } = message
  // What took too many steps would be over at once if it kept them.
  const steps = type === "retry" && message.reason !== "step_limit" ? countFinishedSteps(message) : 0
  const keptParts = message.parts.filter((part) => part.step <= steps)
  // What is kept of an imported answer is vouched for by nobody still (law 4).
  const origin = keptParts.length > 0 ? message.origin : null
  const head = { id, exchange_id, agent, origin, version, versions: version, ...(type === "retry" ? { summary } : {}) }
  const answer = createEmptyAnswer(host, { pos, parent }, { ...head, parts: keptParts, step: Math.max(steps, 0) })
  store.insertMessage(answer)
  if (keptParts.length > 0) store.copySteps(from, pos, steps, answer.seq)
  store.addVersion(parent, from, version, pos)
  return [answer]
}
