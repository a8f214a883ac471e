/**
 * turn-run.ts: one turn, as the process that runs it knows it: what it says, and how it ends.
 *
 * model, tools → events → RUN → recorder → sockets
 * All that matters of a run is in the store; this holds what may be lost: the abort, the window, the clock of thinking.
 * What a model says is gathered in windows that are written before they are sent (law 3).
 */

import type { Channel, TurnEvent } from "../../shared/protocol/event.ts"
import type { TurnFault } from "../../shared/fault.ts"
import { DELTA_WINDOW_CHARS, DELTA_WINDOW_MS } from "../../shared/limits.ts"
import { isEnded, type MessageStatus } from "../../shared/protocol/message.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import type { TimeLimits } from "../platform/time-limits.ts"
import type { SaveAsset, Tool } from "../tool/tool.ts"
import type { ResolvedAgent } from "./resolve-agent.ts"
import type { PastTurns } from "./model-context.ts"
import type { Producer } from "./external-run.ts"
import { createTurnRecorder, type TurnRecorder, type TurnRecorderOptions } from "./turn-recorder.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { Sockets } from "../socket/sockets.ts"
import type { SessionStore } from "../store/session-store.ts"

/** What a turn needs of the object around it. */
export interface TurnHost {
  readonly store: SessionStore
  readonly sockets: Pick<Sockets, "sendMessage" | "sendOps">
  /** Who answers from the next turn on. */
  readonly currentAgent: () => ResolvedAgent
  /** No turn runs: whoever waits for an answer may be told. */
  readonly onIdle: () => void
  readonly times: TimeLimits
  /** The turns before one, as the model is told them. */
  readonly pastTurns: PastTurns
  /** What the directives of an answer may name. */
  readonly resolver: Resolver
  /** Bytes of a file of the session, so many at most; null where the bucket has none. */
  readonly loadAsset: (id: string, bytes: number) => Promise<Uint8Array | null>
  readonly now: () => number
  readonly nextId: () => string
  /** Keeps what a tool made. */
  readonly saveAsset: SaveAsset
  readonly nextSeq: () => number
  /** A write failed after its seq was given: the next one goes on from what is stored. */
  readonly resetSeq: () => void
  /** Makes sure that the object wakes, even if this process is killed: in `times.alarmMs` at the latest. */
  readonly armAlarm: () => void
  /** An answer that nobody here moves began or is over: what waits begins, and the list of sessions is told. */
  readonly resume: () => void
  /** One structured line for the engineers who run it. */
  readonly log: (event: string, detail: Record<string, unknown>) => void
}

export interface TurnRun {
  /** A cancel puts another in its place, which knows only what is stored. */
  recorder: TurnRecorder
  readonly parent: number | null
  /** Who answers, from the turn's beginning to its end. */
  readonly agent: ResolvedAgent
  /** On which its tools are dispatched. */
  readonly channel: Channel
  /** Who tells this answer from outside, and moves it; null: we do. */
  readonly producer: Producer | null
  readonly abort: AbortController
  /** Milliseconds since 1970. */
  readonly startedMs: number
  /** Rows that were read and written before it. */
  readonly rowsBefore: { readonly read: number; readonly written: number }
  /** Ids of the calls that run in this process. */
  readonly inFlight: Set<string>
  readonly notifier: Notifier
  /** Ends the turn when its time is over (law 8). */
  limitTimer: ReturnType<typeof setTimeout> | null
  /** Something of this turn was shown: from now on deltas wait for their window. */
  hasPublished: boolean
  windowTimer: ReturnType<typeof setTimeout> | null
  /** What failed where nobody waits (a timer, a tool): the turn fails with it. */
  failure: unknown
  thinkingSinceMs: number | null
  /** UTF-16 code units that were said in this turn: text, thoughts and arguments. */
  generatedChars: number
  inputTokens: number
  outputTokens: number
}

/** Wakes the one who waits for a turn to change. */
export interface Notifier {
  notify(): void
  /** Resolves with the next ring. */
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

/** A recorder of this object: it gives seqs, and deadlines to what runs or waits. */
export function openRecorder(host: TurnHost, stored: StoredMessage, options: TurnRecorderOptions = {}): TurnRecorder {
  const { store, nextSeq, now, times, resolver } = host
  const deadlineFor = (status: MessageStatus): number =>
    now() + (status === "waiting" ? times.approvalMs : times.turnMs)
  return createTurnRecorder(store, stored, nextSeq, { deadlineFor, resolver, ...options })
}

export function isRunEnded(run: TurnRun): boolean {
  return isEnded(run.recorder.currentMessage().status)
}

/** Writes what was gathered, then sends it. */
export function publishChanges(host: TurnHost, run: TurnRun): void {
  if (run.windowTimer !== null) clearTimeout(run.windowTimer)
  run.windowTimer = null
  run.hasPublished = true
  const flushed = run.recorder.flush()
  if (flushed === null) return
  host.sockets.sendOps(flushed.seq, flushed.ops, run.recorder.storedMessage())
}

/** Feeds one event and sees to it that it is shown: the first of a turn at once, the others with their window. */
export function feedEvent(host: TurnHost, run: TurnRun, event: TurnEvent): void {
  run.recorder.feed(event)
  schedulePublish(host, run)
}

/** Sees to it that what was fed is shown. */
export function schedulePublish(host: TurnHost, run: TurnRun): void {
  if (!run.hasPublished || run.recorder.pendingChars() >= DELTA_WINDOW_CHARS) return publishChanges(host, run)
  run.windowTimer ??= setTimeout(() => publishFromTimer(host, run), DELTA_WINDOW_MS)
}

function publishFromTimer(host: TurnHost, run: TurnRun): void {
  try {
    publishChanges(host, run)
  } catch (error) {
    recordFailure(run, error)
    if (run.producer === null) return
    // Nobody here moves it: it is ended from its rows.
    host.resetSeq()
    host.resume()
  }
}

/** The tool that a call asks for; undefined where this turn has none of that name. */
export function findTool({ agent: answerer }: TurnRun, name: string): Tool | undefined {
  return answerer.tools.find((tool) => tool.name === name)
}

/** Feeds what a person decided of some calls, and shows it. */
export function applyApproval(
  host: TurnHost,
  run: TurnRun,
  approval: "allowed" | "denied",
  call_ids: readonly string[],
): void {
  for (const call_id of call_ids) run.recorder.feed({ type: "tool_approval", call_id, approval })
  publishChanges(host, run)
}

/** Its duration belongs to the thought, however it ends. */
export function endThinking(host: TurnHost, run: TurnRun): void {
  if (run.thinkingSinceMs === null) return
  run.recorder.feed({ type: "thinking_done", ms: host.now() - run.thinkingSinceMs })
  run.thinkingSinceMs = null
}

/** Nobody waits for a timer or a tool, so what it meets is kept for `move`, which is woken. */
export function recordFailure(run: TurnRun, error: unknown): void {
  run.failure ??= error
  run.abort.abort()
  run.notifier.notify()
}

/** Ends a turn, once. What was gathered and not yet written goes along; the model and the tools are told to stop. */
export function finishRun(
  host: TurnHost,
  run: TurnRun,
  status: "completed" | "failed" | "interrupted",
  reason: TurnFault | null,
): void {
  if (isRunEnded(run)) return
  feedEnd(host, run, status, reason)
  publishChanges(host, run)
  disposeRun(run)
  logRunEnd(host, run)
}

/**
 * Stops a turn because somebody asked for it: written first, then aborted (law 7). What was shown stays; deltas that are
 * not written yet, and all that comes later, are dropped.
 */
export function cancelRun(host: TurnHost, run: TurnRun): void {
  const recorder = openRecorder(host, run.recorder.storedMessage(), { discardPending: true })
  const before = run.recorder
  run.recorder = recorder
  try {
    feedEnd(host, run, "cancelled", null)
    publishChanges(host, run)
  } catch (error) {
    run.recorder = before
    throw error
  }
  disposeRun(run)
  logRunEnd(host, run)
}

function feedEnd(
  host: TurnHost,
  run: TurnRun,
  status: "completed" | "failed" | "interrupted" | "cancelled",
  reason: TurnFault | null,
): void {
  const { recorder, startedMs, inputTokens, outputTokens } = run
  endThinking(host, run)
  const tokens = outputTokens === 0 ? {} : { input_tokens: inputTokens, output_tokens: outputTokens }
  const metrics = { ms: host.now() - startedMs, steps: recorder.currentMessage().step, ...tokens }
  recorder.feed({ type: "end", status, reason, metrics })
}

/** Stops whatever still works for a run; what it has gathered is given up. */
export function disposeRun(run: TurnRun): void {
  run.recorder.dispose()
  run.abort.abort()
  run.notifier.notify()
  if (run.windowTimer !== null) clearTimeout(run.windowTimer)
  if (run.limitTimer !== null) clearTimeout(run.limitTimer)
}

function logRunEnd({ log, store }: TurnHost, { recorder, rowsBefore }: TurnRun): void {
  const { status, reason, metrics } = recorder.currentMessage()
  const { read, written } = store.countRows()
  const rows = { rows_written: written - rowsBefore.written, rows_read: read - rowsBefore.read }
  log("turn_end", { status, reason, ...metrics, ...rows, drift: recorder.drift })
}
