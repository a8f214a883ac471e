/**
 * message-versions.ts: other versions of what was said: another answer, another question, one run again from where it failed;
 * and the way back to an earlier one.
 *
 * socket → REVISE → store (a version under the same parent), epoch → turn
 * Nothing is overwritten. Which version is active is where the path ends (`session.tip`); a version that is left keeps
 * the end of its own path for its return, so a switch costs the same in any session.
 */

import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import type { ClientFrame } from "../../shared/protocol/frame.ts"
import { isEnded, type Message } from "../../shared/protocol/message.ts"
import { type Accepted, faultOfContent } from "./accept-message.ts"
import { finishedSteps } from "./turn-recovery.ts"
import type { TurnHost } from "./turn-run.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import { emptyAnswer, userMessage } from "./begin-turn.ts"
import type { Turns } from "./turn-scheduler.ts"

export type Revision = Extract<ClientFrame, { type: "regenerate" | "edit" | "retry" | "switch" }>

/** Switches whose ids are remembered: more than any page keeps unacknowledged. */
const MAX_SWITCHES = 64

export interface Reviser {
  readonly host: TurnHost
  readonly turns: Turns
  /** Tokens that a message may have. */
  readonly maxTokens: () => number
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
export function revise(reviser: Reviser, frame: Revision): Result<Accepted> {
  const { host, turns } = reviser
  const { store } = host
  const known = store.find(frame.id)
  if (known !== null) {
    // Its id is that of what it made: of anything else it cannot be said to be done.
    const made = frame.type === "switch" ? null : frame.type === "edit" ? "user" : "assistant"
    if (known.role !== made || known.isWithdrawn) return fail({ reason: "frame_invalid", field: "id" })
    return succeed({ id: frame.id, seq: known.seq, duplicate: true })
  }
  if (frame.type === "switch" && store.session()?.switches.includes(frame.id) === true) {
    return succeed({ id: frame.id, seq: store.lastSeq(), duplicate: true })
  }
  if (store.outsideAnswer(frame.id) !== null) return fail({ reason: "frame_invalid", field: "id" })
  if (turns.isActive() || store.countQueued() > 0) return fail({ reason: "turn_running" })
  const pos = store.find(frame.message)?.pos ?? null
  const target = pos === null || !store.isOnPath(pos) ? null : store.at(pos)
  if (target === null) return fail({ reason: "message_unknown" })
  const fault = faultOf(reviser, frame, target.message)
  if (fault !== null) return fail(fault)
  const seq = frame.type === "switch" ? switchTo(reviser, frame, target) : branch(reviser, frame, target)
  return seq === null ? fail({ reason: "version_unknown" }) : succeed({ id: frame.id, seq, duplicate: false })
}

function faultOf({ maxTokens }: Reviser, frame: Revision, message: Message): Fault | null {
  const { role, status, mode, attachments } = message
  const wrong: Fault = { reason: "frame_invalid", field: "message" }
  // Our model is never asked for what somebody outside has said.
  if (mode === "external" && (frame.type === "regenerate" || frame.type === "retry")) return wrong
  switch (frame.type) {
    case "switch":
      return null
    case "edit":
      return role === "user" ? faultOfContent(frame.content, maxTokens(), attachments.length > 0) : wrong
    case "regenerate":
      return role === "assistant" && isEnded(status) ? null : wrong
    case "retry":
      if (role !== "assistant") return wrong
      return status === "completed" ? { reason: "turn_whole" } : null
  }
}

function switchTo({ host, setEpoch }: Reviser, frame: Extract<Revision, { type: "switch" }>, target: StoredMessage) {
  const { store } = host
  const { parent, pos, message } = target
  const switches = [...(store.session()?.switches ?? []), frame.id].slice(-MAX_SWITCHES)
  if (frame.version === message.version) {
    store.setSwitches(switches)
    return store.lastSeq()
  }
  const tip = store.tipOfVersion(parent, frame.version)
  if (tip === null) return null
  const epoch = host.nextId()
  store.atomically(() => {
    store.leaveVersion(pos, store.tip())
    store.setPath(epoch, tip)
    store.setSwitches(switches)
  })
  setEpoch(epoch)
  return store.lastSeq()
}

/** A new version in the place of the target, and the turn that it begins. */
function branch(
  { host, turns, setEpoch }: Reviser,
  frame: Exclude<Revision, { type: "switch" }>,
  target: StoredMessage,
) {
  const { store } = host
  const epoch = host.nextId()
  const version = store.countVersions(target.parent) + 1
  const made = store.atomically(() => {
    store.leaveVersion(target.pos, store.tip())
    const begun =
      frame.type === "edit" ? askAgain(host, frame, target, version) : answerAgain(host, frame, target, version)
    store.setPath(epoch, null)
    return begun
  })
  setEpoch(epoch)
  turns.begin(made)
  return made[0]?.seq ?? store.lastSeq()
}

function askAgain(
  host: TurnHost,
  { id, content }: Extract<Revision, { type: "edit" }>,
  { parent, pos: first, message: { reply_to, attachments } }: StoredMessage,
  version: number,
): StoredMessage[] {
  const { store } = host
  const pos = store.newestPos() + 1
  // Other words: what they answer, and the files that stand with them, stay.
  const asked = userMessage(id, content, host.now(), { reply_to, attachments })
  const message: Message = { ...asked, version, versions: version }
  const question: StoredMessage = { pos, parent, seq: host.nextSeq(), deadline: null, message }
  store.insertMessage(question)
  store.addVersion(parent, first, version, pos)
  const answer = emptyAnswer(host, { pos: pos + 1, parent: pos }, { id: host.nextId(), exchange_id: id })
  store.insertMessage(answer)
  return [question, answer]
}

/** A retry keeps the finished steps of the answer that failed; a regeneration keeps none. */
function answerAgain(
  host: TurnHost,
  { type, id }: Extract<Revision, { type: "regenerate" | "retry" }>,
  { parent, pos: from, message }: StoredMessage,
  version: number,
): StoredMessage[] {
  const { store } = host
  const pos = store.newestPos() + 1
  const { exchange_id, summary, agent } = message
  // What took too many steps would be over at once if it kept them.
  const steps = type === "retry" && message.reason !== "step_limit" ? finishedSteps(message) : 0
  const kept = message.parts.filter((part) => part.step <= steps)
  // What is kept of an imported answer is vouched for by nobody still (law 4).
  const origin = kept.length > 0 ? message.origin : null
  const head = { id, exchange_id, agent, origin, version, versions: version, ...(type === "retry" ? { summary } : {}) }
  const answer = emptyAnswer(host, { pos, parent }, { ...head, parts: kept, step: Math.max(steps, 0) })
  store.insertMessage(answer)
  if (kept.length > 0) store.copySteps(from, pos, steps, answer.seq)
  store.addVersion(parent, from, version, pos)
  return [answer]
}
