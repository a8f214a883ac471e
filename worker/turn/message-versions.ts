/**
 * message-versions.ts: creates other versions of a question or an answer, and switches between versions.
 *
 * socket → REVISE → store (a version under the same parent), new epoch → turn
 * Nothing is overwritten. `session.tip`, the end of the active path, determines which version is active. A version that
 * becomes inactive stores the end of its own path, so switching costs the same in any session.
 */

import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import { isEnded, type Message } from "../../shared/protocol/message.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import { findContentFault } from "./accept-message.ts"
import { createTraceId } from "../telemetry/trace-id.ts"
import { createEmptyAnswer, createUserMessage, insertAnswer } from "./begin-turn.ts"
import { reopenText, writeReopenedStep } from "./continuation/reopen-text.ts"
import { countFinishedSteps } from "./next-action.ts"
import type { TurnHost } from "./turn-run.ts"
import type { TurnScheduler } from "./turn-scheduler.ts"
import type { AcceptedMessage } from "../platform/rpc/session-types.ts"

export type RevisionFrame = Extract<ClientFrame, { type: "regenerate" | "edit" | "retry" | "switch" }>

/**
 * Number of switch ids that are remembered, so that a repeated switch has no effect. A page never has this many
 * switches pending.
 */
const MAX_SWITCHES = 64

export interface RevisionContext {
  readonly host: TurnHost
  readonly turns: TurnScheduler
  readonly maxMessageTokens: () => number
  /** Announces a new epoch, so that every client reads the history again. The active path has changed below `fork`. */
  readonly setEpoch: (epoch: string, fork: number) => void
}

/**
 * Handles a `regenerate`, `edit`, `retry` or `switch` frame, or returns a fault and stores nothing (SPEC VE1–VE7).
 * Idempotent: repeating a frame id has no effect.
 *
 * Faults: `turn_running`, `message_unknown`, `version_unknown`, `turn_whole`, those of a message's content, and
 * `frame_invalid` if the frame names a message of the wrong role or an id that is in use.
 */
export function reviseMessage(context: RevisionContext, frame: RevisionFrame): Result<AcceptedMessage> {
  const { host, turns } = context
  const { store } = host
  const earlier = findEarlierRevision(host, frame)
  if (earlier !== null) return earlier
  if (turns.isActive() || store.countQueued() > 0) return fail({ reason: "turn_running" })
  const pos = store.findById(frame.message)?.pos ?? null
  const target = pos === null || !store.isOnPath(pos) ? null : store.findMessageAt(pos)
  if (target === null) return fail({ reason: "message_unknown" })
  const fault = findRevisionFault(context, frame, target.message)
  if (fault !== null) return fail(fault)
  const seq = frame.type === "switch" ? switchVersion(context, frame, target) : createVersion(context, frame, target)
  return seq === null ? fail({ reason: "version_unknown" }) : succeed({ id: frame.id, seq, duplicate: false })
}

/**
 * Returns the result if the frame's id is already in use: a repeated frame succeeds again. Returns null if the id is
 * new.
 */
function findEarlierRevision({ store }: TurnHost, frame: RevisionFrame): Result<AcceptedMessage> | null {
  const idTaken: Result<never> = fail({ reason: "frame_invalid", field: "id" })
  const known = store.findById(frame.id)
  if (known !== null) {
    // The id belongs to the message that the frame created. If any other message has it, that is a conflict.
    const expectedRole = frame.type === "switch" ? null : frame.type === "edit" ? "user" : "assistant"
    if (known.role !== expectedRole || known.isWithdrawn) return idTaken
    return succeed({ id: frame.id, seq: known.seq, duplicate: true })
  }
  if (frame.type === "switch" && store.readSession()?.switches.includes(frame.id) === true) {
    return succeed({ id: frame.id, seq: store.readLastSeq(), duplicate: true })
  }
  return store.findExternalAnswerPos(frame.id) === null ? null : idTaken
}

function findRevisionFault(
  { host, maxMessageTokens }: RevisionContext,
  frame: RevisionFrame,
  message: Message,
): Fault | null {
  const { role, status, attachments } = message
  const wrongTarget: Fault = { reason: "frame_invalid", field: "message" }
  if ((frame.type === "regenerate" || frame.type === "retry") && !hasQuestion(host, message)) return wrongTarget
  switch (frame.type) {
    case "switch":
      return null
    case "edit":
      if (message.action !== undefined) return wrongTarget
      return role === "user" ? findContentFault(frame.content, maxMessageTokens(), attachments.length > 0) : wrongTarget
    case "regenerate":
      return role === "assistant" && isEnded(status) ? null : wrongTarget
    case "retry":
      if (role !== "assistant") return wrongTarget
      return status === "completed" ? { reason: "turn_whole" } : null
  }
}

/**
 * Whether a message answers a question. An answer that a producer began by itself has no question that could be asked
 * again.
 */
function hasQuestion({ store }: TurnHost, { mode, exchange_id }: Message): boolean {
  return mode !== "external" || (store.findById(exchange_id)?.role ?? "assistant") !== "assistant"
}

/** Activates another version. Returns the newest seq, or null if there is no such version. */
function switchVersion(
  { host, setEpoch }: RevisionContext,
  frame: Extract<RevisionFrame, { type: "switch" }>,
  target: StoredMessage,
): number | null {
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
  setEpoch(epoch, parent ?? 0)
  return store.readLastSeq()
}

/** Stores a new version in place of the target and starts its turn. Returns the seq of the version. */
function createVersion(
  { host, turns, setEpoch }: RevisionContext,
  frame: Exclude<RevisionFrame, { type: "switch" }>,
  target: StoredMessage,
): number {
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
  setEpoch(epoch, target.parent ?? 0)
  turns.startVersion(created)
  return created[0]?.seq ?? store.readLastSeq()
}

function createQuestionVersion(
  host: TurnHost,
  { id, content }: Extract<RevisionFrame, { type: "edit" }>,
  { parent, pos: first, message: { reply_to, attachments, effort } }: StoredMessage,
  version: number,
): StoredMessage[] {
  const { store } = host
  const pos = store.readNewestPos() + 1
  // Only the text changes: `reply_to`, the attachments and the effort are kept (SPEC AT4).
  const kept = effort === undefined ? {} : { effort }
  const revised = createUserMessage(id, content, host.now(), { reply_to, attachments, ...kept })
  const message: Message = { ...revised, version, versions: version }
  const question: StoredMessage = { pos, parent, seq: host.nextSeq(), deadline: null, message }
  store.insertMessage(question)
  store.addVersion(parent, first, version, pos)
  const answer = createEmptyAnswer(
    host,
    { pos: pos + 1, parent: pos },
    {
      id: host.nextId(),
      exchange_id: id,
      trace: createTraceId(),
      ...kept,
    },
  )
  insertAnswer(host, answer)
  return [question, answer]
}

/**
 * Creates a new version of an answer. A retry keeps the finished steps of the failed answer, and the text in which it
 * was stopped. A regeneration keeps only the step with the call that a click made. The same is true of a retry if a
 * program answers it or wrote the failed answer.
 */
function createAnswerVersion(
  host: TurnHost,
  { type, id }: Extract<RevisionFrame, { type: "regenerate" | "retry" }>,
  { parent, pos: from, message }: StoredMessage,
  version: number,
): StoredMessage[] {
  const { store } = host
  const pos = store.readNewestPos() + 1
  const { exchange_id, summary, agent, effort } = message
  const isContinued = type === "retry" && message.mode !== "external" && !host.currentAgent().isExternal
  // An answer that reached the step limit keeps no steps (`finishedSteps`), because it would otherwise fail again at
  // once.
  const reopened = isContinued ? reopenText(message) : null
  // A new answer never repeats the call that a click made.
  const isClick = parent !== null && store.findMessageAt(parent)?.message.action !== undefined
  const clickSteps = isClick ? Math.min(countFinishedSteps(message), 1) : 0
  const finishedSteps =
    isContinued && message.reason !== "step_limit" ? countFinishedSteps(message) : Math.max(clickSteps, 0)
  const steps = reopened === null ? finishedSteps : reopened.step - 1
  const keptParts = reopened?.parts ?? message.parts.filter((part) => part.step <= steps)
  // The kept parts of an imported answer remain unverified.
  const origin = keptParts.length > 0 ? message.origin : null
  const trace = createTraceId()
  const versioned = { id, exchange_id, agent, origin, version, versions: version, trace, ...(effort && { effort }) }
  const head = isContinued ? { ...versioned, summary } : versioned
  const step = reopened?.step ?? Math.max(steps, 0)
  const answer = createEmptyAnswer(host, { pos, parent }, { ...head, parts: keptParts, step })
  insertAnswer(host, answer)
  if (keptParts.length > 0) store.copySteps(from, pos, steps, answer.seq)
  if (reopened !== null) writeReopenedStep(store, pos, answer.seq, reopened)
  store.addVersion(parent, from, version, pos)
  return [answer]
}
