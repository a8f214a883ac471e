/**
 * turn-run.ts: one turn in the process that runs it. Contains the turn's state in memory, and the code that publishes
 * its output and ends it.
 *
 * model, tools → events → RUN → recorder → sockets
 * Everything that must survive a restart is in the store. A run holds everything else: the abort controller, timers and
 * counters. Output is gathered in windows, and each window is written before it is sent (SPEC ST3).
 */

import type { ViewReference } from "../../shared/protocol/cards/card-view-url.ts"
import type { Channel, TurnEvent } from "../../shared/protocol/event.ts"
import type { TurnFault } from "../../shared/fault.ts"
import {
  DELTA_WINDOW_CHARS,
  DELTA_WINDOW_MS,
  LONG_DELTA_WINDOW_MS,
  LONG_WINDOW_AFTER_MS,
} from "../../shared/delta-window.ts"
import { isEnded, type MessageStatus } from "../../shared/protocol/message.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import type { Drift } from "../../shared/segment/segmenter.ts"
import { type PricedCall, sumTokens } from "../../shared/usage/call-usage.ts"
import type { Log } from "../platform/log.ts"
import { describeUsage } from "../telemetry/genai-attributes.ts"
import type { TraceSpan } from "../telemetry/spans.ts"
import type { Telemetry } from "../telemetry/telemetry.ts"
import type { TimeLimits } from "../platform/time-limits.ts"
import type { SaveAsset } from "../asset/save-options.ts"
import type { FindCard } from "../tool/cards/choose-result-card.ts"
import type { Tool } from "../tool/tool.ts"
import type { TurnGate } from "../usage/turn-gate.ts"
import type { TurnUsage } from "../usage/turn-usage.ts"
import type { UsageRecorder } from "../usage/usage-recorder.ts"
import type { StepStates } from "./continuation/step-states.ts"
import type { ResolvedAgent } from "./resolve-agent.ts"
import type { PastTurns } from "./past-turns.ts"
import type { Producer } from "./external-run.ts"
import { TurnRecorder, type TurnRecorderOptions } from "./turn-recorder.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { Sockets } from "../socket/sockets.ts"
import type { SessionStore } from "../store/session-store.ts"

/** The services of the session object that a turn uses. */
export interface TurnHost {
  readonly store: SessionStore
  readonly sockets: Pick<Sockets, "sendMessage" | "sendOps">
  /** Returns the agent that answers new turns. */
  readonly currentAgent: () => ResolvedAgent
  /** Called when no turn is running, so that answers to other agents can be delivered. */
  readonly onIdle: () => void
  readonly times: TimeLimits
  /** Reads earlier turns for the model's context. */
  readonly pastTurns: PastTurns
  /** Resolves what the directives of an answer refer to. */
  readonly resolver: Resolver
  /** Loads at most `bytes` bytes of one of the session's assets; null if the bucket does not contain it. */
  readonly loadAsset: (id: string, bytes: number) => Promise<Uint8Array | null>
  readonly now: () => number
  readonly nextId: () => string
  /** Stores a file that a tool made. */
  readonly saveAsset: SaveAsset
  /** Reads the stored template of a card version, as JSON text. Returns null if the version is no longer stored. */
  readonly loadCardView: (card: ViewReference) => Promise<string | null>
  /** Finds the tenant's card for a tool's result. */
  readonly findCard: FindCard
  readonly nextSeq: () => number
  /** Called when a write has failed after it took a seq. The next seq continues from the stored ones. */
  readonly resetSeq: () => void
  /** Ensures that the object wakes within `times.alarmMs`, even if this process is killed. */
  readonly armAlarm: () => void
  /** Called when an external answer has begun or ended: starts queued turns and syncs the directory. */
  readonly resume: () => void
  /** Each line contains the tenant, the session, and the trace of the running turn. */
  readonly log: Log
  readonly telemetry: Telemetry
  readonly usageRecorder: UsageRecorder
  /** Decides whether a turn may begin (SPEC BU5). */
  readonly gate: Pick<TurnGate, "check" | "beginTurn" | "giveBack">
}

export interface TurnRun {
  /** A cancel replaces it with a recorder that starts from the stored message. */
  recorder: TurnRecorder
  readonly parent: number | null
  /** The agent that answers. It does not change until the turn ends, even if the configuration changes. */
  readonly agent: ResolvedAgent
  /** The channel on which the turn's tools are dispatched. */
  readonly channel: Channel
  /** The external producer that streams this answer in; null for an answer of the session's own model. */
  readonly producer: Producer | null
  /** The provider's states, which are sent with the next step. */
  readonly states: StepStates
  readonly abort: AbortController
  /** Milliseconds since 1970. */
  readonly startedMs: number
  /** Rows that the object had read and written before this run, for the log. */
  readonly rowsBefore: RowCounts
  /** The span of the current pass; between passes, the root of the trace. */
  span: TraceSpan
  /** Milliseconds from the start to the first text or thinking that this process received. */
  firstDeltaMs: number | null
  /** The call that a click on a card makes before the model is called; null once it is recorded. */
  firstCall: FirstCall | null
  /** Ids of the calls that are running in this process. */
  readonly inFlight: Set<string>
  readonly notifier: Notifier
  /** Ends the turn at its time limit (SPEC TU11). */
  limitTimer: ReturnType<typeof setTimeout> | null
  /**
   * When this run first published something; null before. The first event is published at once, later ones in windows.
   */
  visibleSinceMs: number | null
  windowTimer: ReturnType<typeof setTimeout> | null
  /** An error from a timer or a tool, where no caller can catch it. `advanceTurn` throws it. */
  failure: unknown
  thinkingSinceMs: number | null
  /** UTF-16 code units of text, thinking and arguments that the model generated in this turn. */
  generatedChars: number
  /** The turn's model calls, including those of earlier processes. */
  readonly usage: TurnUsage
}

/** `args` is JSON text. */
export interface FirstCall {
  readonly name: string
  readonly args: string
}

export interface RowCounts {
  readonly read: number
  readonly written: number
}

/** Access to the active turn of a session. Implemented by `TurnScheduler`. */
export interface ActiveTurn {
  readonly host: TurnHost
  /** Returns the run of the unfinished answer, restored from its rows if it is not in memory; null if there is none. */
  currentRun(): TurnRun | null
  /** Runs `publish`. If it throws, the run is marked as failed and the error is rethrown. */
  publishSafely(run: TurnRun, publish: () => void): void
}

/** Wakes the code that waits for a run to change. It has at most one waiter. */
export interface Notifier {
  notify(): void
  waitForNotify(): Promise<void>
}

export function createNotifier(): Notifier {
  let wake = (): void => {}
  return {
    notify: () => wake(),
    waitForNotify: () =>
      new Promise((resolve) => {
        wake = resolve
      }),
  }
}

/** Opens a recorder for a message of this session, with its seqs, deadlines and resolver. */
export function openRecorder(host: TurnHost, stored: StoredMessage, options: TurnRecorderOptions = {}): TurnRecorder {
  const { store, nextSeq, now, times, resolver } = host
  const deadlineFor = (status: MessageStatus): number =>
    now() + (status === "waiting" ? times.approvalMs : times.turnMs)
  const onEnd = (calls: readonly PricedCall[]): void => store.usage.addTurn(calls, host.currentAgent().name, now())
  return new TurnRecorder(store, stored, nextSeq, { deadlineFor, resolver, now, onEnd, ...options })
}

export function isRunEnded(run: TurnRun): boolean {
  return isEnded(run.recorder.currentMessage().status)
}

/** Writes the buffered events, then sends them. */
export function publishChanges(host: TurnHost, run: TurnRun): void {
  if (run.windowTimer !== null) clearTimeout(run.windowTimer)
  run.windowTimer = null
  run.visibleSinceMs ??= host.now()
  const flushed = run.recorder.flush()
  if (flushed === null) return
  host.sockets.sendOps(flushed.seq, flushed.ops, run.recorder.storedMessage())
}

/** Records one event and schedules its publication. */
export function feedEvent(host: TurnHost, run: TurnRun, event: TurnEvent): void {
  run.recorder.feed(event)
  schedulePublish(host, run)
  if (event.type === "text_delta" || event.type === "thinking_delta") run.firstDeltaMs ??= host.now() - run.startedMs
}

/** Publishes at once if this is the run's first event or the buffer is full, else at the end of the window. */
export function schedulePublish(host: TurnHost, run: TurnRun): void {
  if (run.visibleSinceMs === null || run.recorder.pendingChars() >= DELTA_WINDOW_CHARS) return publishChanges(host, run)
  const isLong = host.now() - run.visibleSinceMs >= LONG_WINDOW_AFTER_MS
  run.windowTimer ??= setTimeout(() => publishFromTimer(host, run), isLong ? LONG_DELTA_WINDOW_MS : DELTA_WINDOW_MS)
}

/** Publishes within a short window, even if a long one has begun. For changes that the user is waiting for. */
export function schedulePublishSoon(host: TurnHost, run: TurnRun): void {
  if (run.windowTimer !== null) clearTimeout(run.windowTimer)
  run.windowTimer = setTimeout(() => publishFromTimer(host, run), DELTA_WINDOW_MS)
}

function publishFromTimer(host: TurnHost, run: TurnRun): void {
  try {
    publishChanges(host, run)
  } catch (error) {
    recordFailure(run, error)
    if (run.producer === null) return
    // No pass of `advance` runs for an external answer, so start one: it ends the answer from its rows.
    host.resetSeq()
    host.resume()
  }
}

/** Returns the tool of a call; undefined if this turn has none with that name. */
export function findTool({ agent }: TurnRun, name: string): Tool | undefined {
  return agent.tools.find((tool) => tool.name === name)
}

/** Records and publishes what the user has decided or answered. */
export function applyEvents(host: TurnHost, run: TurnRun, events: readonly TurnEvent[]): void {
  for (const event of events) run.recorder.feed(event)
  publishChanges(host, run)
}

/** Ends the current thinking part, if there is one, and records its duration. */
export function endThinking(host: TurnHost, run: TurnRun): void {
  if (run.thinkingSinceMs === null) return
  run.recorder.feed({ type: "thinking_done", ms: host.now() - run.thinkingSinceMs })
  run.thinkingSinceMs = null
}

/** Ends the model call that is in progress, and reports its usage. */
export function endCall({ usage }: TurnRun, span: TraceSpan): void {
  usage.endCall()
  const call = usage.calls().at(-1)
  if (call !== undefined) span.set(() => describeUsage(call))
}

/** Stores an error from a timer or a tool, and wakes `advanceTurn`, which throws it. */
export function recordFailure(run: TurnRun, error: unknown): void {
  run.failure ??= error
  run.abort.abort()
  run.notifier.notify()
}

/** Ends a turn, once: publishes its buffered events with the end, then aborts the model and the tools. */
export function finishRun(
  host: TurnHost,
  run: TurnRun,
  status: "completed" | "failed" | "interrupted",
  reason: TurnFault | null,
): void {
  if (isRunEnded(run)) return
  feedEnd(host, run, status, reason)
  publishChanges(host, run)
  clearRunRows(host, run)
  disposeRun(run)
  logRunEnd(host, run)
}

/** Removes what is stored only for the rest of a turn. */
function clearRunRows({ store }: TurnHost, { states }: TurnRun): void {
  states.clear()
  store.toolCallbacks.clear()
  store.callInputs.clear()
}

/**
 * Cancels a turn. The end is written before the work is aborted, so a crash in between cannot undo the cancel. Deltas
 * that are not written yet are discarded, as is everything that arrives later.
 */
export function cancelRun(host: TurnHost, run: TurnRun): void {
  const recorder = openRecorder(host, run.recorder.storedMessage(), { discardPending: true, usage: run.usage })
  const before = run.recorder
  run.recorder = recorder
  try {
    feedEnd(host, run, "cancelled", null)
    publishChanges(host, run)
  } catch (error) {
    run.recorder = before
    throw error
  }
  clearRunRows(host, run)
  disposeRun(run)
  logRunEnd(host, run)
}

function feedEnd(
  host: TurnHost,
  run: TurnRun,
  status: "completed" | "failed" | "interrupted" | "cancelled",
  reason: TurnFault | null,
): void {
  const { recorder, startedMs, usage } = run
  endThinking(host, run)
  // The usage of a call that is cut off now is what its provider has reported so far.
  usage.endCall()
  const { input, output } = sumTokens(usage.calls())
  const tokens = output === 0 ? {} : { input_tokens: input, output_tokens: output }
  const metrics = { ms: host.now() - startedMs, steps: recorder.currentMessage().step, ...tokens }
  recorder.feed({ type: "end", status, reason, metrics })
}

/** Aborts a run's work and discards its buffered output. */
export function disposeRun(run: TurnRun): void {
  run.recorder.dispose()
  run.abort.abort()
  run.notifier.notify()
  if (run.windowTimer !== null) clearTimeout(run.windowTimer)
  if (run.limitTimer !== null) clearTimeout(run.limitTimer)
}

type EndedRun = Pick<TurnRun, "recorder" | "rowsBefore" | "agent" | "producer" | "startedMs" | "firstDeltaMs" | "usage">

/** Reports the end of a run, however it ended. */
export function logRunEnd(host: TurnHost, run: EndedRun): void {
  const { recorder, rowsBefore, agent, producer, startedMs, firstDeltaMs, usage } = run
  const { read, written } = host.store.countRows()
  const { model } = agent
  const message = recorder.currentMessage()
  host.telemetry.reportTurnEnd({
    message,
    agent: agent.name,
    // A producer's model is not known.
    model: producer === null && model.ok ? model.value : null,
    calls: usage.calls(),
    ms: message.metrics?.ms ?? host.now() - startedMs,
    firstDeltaMs,
    rows: { read: read - rowsBefore.read, written: written - rowsBefore.written },
    drift: countDrift(recorder.drift),
  })
}

/** Counts the drift for each reason. The drifting text itself is not reported, because the model wrote it. */
function countDrift(drift: readonly Drift[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { reason } of drift) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}
