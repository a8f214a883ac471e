/**
 * turn-recovery.ts: continues or ends a turn from its stored rows, after a restart or a failed write.
 *
 * rows → RECOVERY → run → turn-scheduler.ts
 */

import type { TurnEvent } from "../../shared/protocol/event.ts"
import { isEnded, listCalls, type Message, type Part } from "../../shared/protocol/message.ts"
import { describeError } from "../platform/log.ts"
import { selectChannel } from "../store/agent-ask-rows.ts"
import { isMessageSettled, type StoredMessage } from "../store/row-codec.ts"
import { createAckedRecordWrite, restoreProducer, type Producer } from "./external-run.ts"
import { StepStates } from "./continuation/step-states.ts"
import { isBlankPart } from "./next-action.ts"
import { dropApprovalTools } from "./resolve-agent.ts"
import { TurnUsage } from "../usage/turn-usage.ts"
import type { TurnRecorder } from "./turn-recorder.ts"
import {
  createNotifier,
  disposeRun,
  findTool,
  finishRun,
  isRunEnded,
  logRunEnd,
  openRecorder,
  publishChanges,
  recordFailure,
  type FirstCall,
  type RowCounts,
  type TurnHost,
  type TurnRun,
} from "./turn-run.ts"

export function readNewestMessage({ store }: TurnHost): StoredMessage | null {
  return store.findMessageAt(store.readNewestPos())
}

export function hasUnfinishedAnswer({ store }: TurnHost): boolean {
  const newest = store.findNewestAnswer()
  return newest !== null && !isEnded(newest.status)
}

/** Restores the run of the stored unfinished turn; null if there is none. */
export function restoreRun(host: TurnHost, rowsBefore = host.store.countRows()): TurnRun | null {
  const stored = hasUnfinishedAnswer(host) ? readNewestMessage(host) : null
  return stored === null ? null : openRun(host, stored, rowsBefore)
}

/**
 * Returns the question of an answer that is still empty, because only its first step can depend on it; otherwise null.
 */
function readQuestion({ store }: TurnHost, { parent, message }: StoredMessage): Message | null {
  const isEmpty = message.step === 0 && message.parts.length === 0
  return isEmpty && parent !== null ? (store.findMessageAt(parent)?.message ?? null) : null
}

/**
 * Returns the call that a click on a card makes before the model is called; null if the call was already made, or if
 * there is none.
 */
function findFirstCall(answer: Message, question: Message | null): FirstCall | null {
  const { tool, args } = question?.action ?? {}
  const isEmpty = answer.step === 0 && answer.parts.length === 0
  return isEmpty && tool !== undefined && args !== undefined ? { name: tool, args } : null
}

/** Opens a run for an unfinished answer, as it is stored. */
export function openRun(
  host: TurnHost,
  stored: StoredMessage,
  rowsBefore: RowCounts,
  question: Message | null = readQuestion(host, stored),
): TurnRun {
  const producer = restoreProducer(host, stored)
  const channel = selectChannel(host.store.agentAsks.findInboundAsk(stored.message.exchange_id), stored.message.agent)
  const agent = host.currentAgent()
  const usage = new TurnUsage(host.usageRecorder, host.now, stored.usage)
  const states = new StepStates(host.store, stored.pos)
  const run: TurnRun = {
    recorder: restoreRecorder(host, stored, producer, usage, states),
    states,
    agent: channel === "user" ? agent : dropApprovalTools(agent),
    channel,
    parent: stored.parent,
    producer,
    abort: new AbortController(),
    startedMs: Date.parse(stored.message.timestamp),
    rowsBefore,
    span: host.telemetry.startTrace(stored.message.trace),
    firstDeltaMs: null,
    inFlight: new Set(),
    firstCall: findFirstCall(stored.message, question),
    notifier: createNotifier(),
    limitTimer: null,
    visibleSinceMs: null,
    windowTimer: null,
    failure: null,
    thinkingSinceMs: null,
    generatedChars: stored.message.parts.reduce((sum, part) => sum + countPartChars(part), 0),
    usage,
  }
  startTimeLimit(host, run)
  return run
}

function restoreRecorder(
  host: TurnHost,
  stored: StoredMessage,
  producer: Producer | null,
  usage: TurnUsage,
  states: StepStates,
): TurnRecorder {
  if (producer !== null) {
    return openRecorder(host, stored, { alongside: createAckedRecordWrite(host.store, stored.pos, producer) })
  }
  // A step that showed nothing is run again, so its buffered text is discarded.
  const last = stored.message.parts.at(-1)
  const discardPending = last !== undefined && isBlankPart(last)
  const alongside = { isPending: () => states.isPending(), write: () => states.write() }
  return openRecorder(host, stored, { discardPending, usage, alongside })
}

function countPartChars(part: Part): number {
  return part.type === "tool_call" ? part.call.args.length : part.text.length
}

/**
 * Starts the time limit for running the turn in this process. The alarm enforces the deadlines of approvals and of
 * producers.
 */
function startTimeLimit(host: TurnHost, run: TurnRun): void {
  if (run.producer !== null) return
  const { deadline, message } = run.recorder.storedMessage()
  const msLeft = message.status === "waiting" || deadline === null ? host.times.turnMs : deadline - host.now()
  run.limitTimer = setTimeout(() => finishTimedOut(host, run), Math.max(msLeft, 0))
}

function finishTimedOut(host: TurnHost, run: TurnRun): void {
  try {
    finishRun(host, run, "failed", "turn_timeout")
  } catch (error) {
    recordFailure(run, error)
  }
}

/** Takes over the turn that an earlier process left. A turn that cannot be recovered ends as failed. */
export function recoverTurnSafely(host: TurnHost): TurnRun | null {
  try {
    return recoverTurn(host)
  } catch (error) {
    host.log("turn_error", { error: describeError(error) })
    failStoredTurn(host, null)
    return null
  }
}

function recoverTurn(host: TurnHost): TurnRun | null {
  const run = restoreRun(host)
  if (run === null || run.producer !== null) return run
  const isRepeatable = (name: string): boolean => findTool(run, name)?.repeatable ?? false
  const lost = planRecovery(run.recorder.currentMessage(), isRepeatable)
  for (const event of lost) run.recorder.feed(event)
  // An interrupted call doesn't run again, so the user's answers to it are not needed.
  if (lost.length > 0) host.store.callInputs.clear(true)
  try {
    publishChanges(host, run)
  } catch (error) {
    disposeRun(run)
    throw error
  }
  if (!isRunEnded(run)) return run
  disposeRun(run)
  logRunEnd(host, run)
  return null
}

/**
 * Returns the events that record the work lost in a restart, before the turn continues. A tool that was running is
 * interrupted unless it is repeatable. A step that was cut off after it had shown something ends the turn.
 */
export function planRecovery(message: Message, isRepeatable: (tool: string) => boolean): TurnEvent[] {
  const events: TurnEvent[] = []
  for (const call of listCalls(message)) {
    if (call.status !== "running" || isRepeatable(call.name)) continue
    const error = { code: "tool_interrupted", message: "The tool was interrupted by a restart." }
    events.push({ type: "tool_result", call_id: call.call_id, status: "interrupted", result: null, card: null, error })
  }
  if (isLastStepCut(message)) {
    events.push({ type: "end", status: "interrupted", reason: "process_restart", metrics: null })
  }
  return events
}

/**
 * Whether the last step was cut off after it had shown something. The write that ends a step also dispatches its calls
 * or asks for approval, so a step with a dispatched call, or with a call for which approval was requested, is known to
 * be finished.
 */
function isLastStepCut({ parts }: Message): boolean {
  const last = parts.findLast((part) => !isBlankPart(part))
  if (last === undefined) return false
  const calls = parts.flatMap((part) => (part.type === "tool_call" && part.step === last.step ? [part.call] : []))
  // A call that has asked the user is queued again when the user answers. It has a channel, because it has run before.
  return !calls.some((call) => call.status !== "queued" || call.approval !== null || call.channel !== null)
}

/**
 * Ends the stored turn as failed. Output that a failed write left in memory was never shown, so it is discarded. `run`
 * is null if the turn could not even be restored.
 */
export function failStoredTurn(host: TurnHost, run: TurnRun | null): void {
  const rowsBefore = host.store.countRows()
  host.resetSeq()
  const stored = readNewestMessage(host)
  if (stored === null || isMessageSettled(stored)) return
  // All calls of the run are included, even those that no write has stored.
  const usage = run?.usage ?? new TurnUsage(host.usageRecorder, host.now, stored.usage)
  usage.endCall()
  const recorder = openRecorder(host, stored, { discardPending: true, usage })
  recorder.feed({ type: "end", status: "failed", reason: "internal", metrics: null })
  const flushed = recorder.flush()
  if (flushed !== null) host.sockets.sendOps(flushed.seq, flushed.ops, recorder.storedMessage())
  const startedMs = Date.parse(stored.message.timestamp)
  const unknown = { agent: host.currentAgent(), producer: null, startedMs, firstDeltaMs: null, rowsBefore }
  logRunEnd(host, { ...(run ?? { ...unknown, usage }), recorder })
}
