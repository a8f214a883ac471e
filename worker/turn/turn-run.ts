/**
 * turn-run.ts: one turn, as the process that runs it knows it: what it says, and how it ends.
 *
 * model, tools → events → RUN → recorder → sockets
 * All that matters of a run is in the store; this holds what may be lost: the abort, the window, the clock of thinking.
 * What a model says is gathered in windows that are written before they are sent (law 3).
 */

import type { Channel, TurnEvent } from "../../shared/protocol/event.ts"
import type { TurnFault } from "../../shared/fault.ts"
import { WINDOW_CHARS, WINDOW_MS } from "../../shared/limits.ts"
import { isEnded, type MessageStatus } from "../../shared/protocol/message.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import type { Times } from "../platform/time-limits.ts"
import type { Save, Tool } from "../tool/tool.ts"
import type { Answerer } from "./resolve-agent.ts"
import type { Past } from "./model-context.ts"
import type { Producer } from "./external-run.ts"
import { createRecorder, type Recorder, type RecorderOptions } from "./turn-recorder.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { Sockets } from "../socket/sockets.ts"
import type { Store } from "../store/session-store.ts"

/** What a turn needs of the object around it. */
export interface TurnHost {
  readonly store: Store
  readonly sockets: Sockets
  /** Who answers from the next turn on. */
  readonly answerer: () => Answerer
  /** No turn runs: whoever waits for an answer may be told. */
  readonly atRest: () => void
  readonly times: Times
  /** The turns before one, as the model is told them. */
  readonly past: Past
  /** What the directives of an answer may name. */
  readonly resolver: Resolver
  /** Bytes of a file of the session, so many at most; null where the bucket has none. */
  readonly load: (id: string, bytes: number) => Promise<Uint8Array | null>
  readonly now: () => number
  readonly nextId: () => string
  /** Keeps what a tool made. */
  readonly save: Save
  readonly nextSeq: () => number
  /** A write failed after its seq was given: the next one goes on from what is stored. */
  readonly resetSeq: () => void
  /** Makes sure that the object wakes, even if this process is killed: in `times.alarmMs` at the latest. */
  readonly armAlarm: () => void
  /** An answer that nobody here moves began or is over: what waits begins, and the list of sessions is told. */
  readonly goOn: () => void
  /** One structured line for the engineers who run it. */
  readonly log: (event: string, detail: Record<string, unknown>) => void
}

export interface Run {
  /** A cancel puts another in its place, which knows only what is stored. */
  recorder: Recorder
  readonly parent: number | null
  /** Who answers, from the turn's beginning to its end. */
  readonly answerer: Answerer
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
  readonly bell: Bell
  /** Ends the turn when its time is over (law 8). */
  limit: ReturnType<typeof setTimeout> | null
  /** Something of this turn was shown: from now on deltas wait for their window. */
  hasSpoken: boolean
  window: ReturnType<typeof setTimeout> | null
  /** What failed where nobody waits (a timer, a tool): the turn fails with it. */
  failure: unknown
  thinkingSince: number | null
  /** UTF-16 code units that were said in this turn: text, thoughts and arguments. */
  said: number
  inputTokens: number
  outputTokens: number
}

/** Wakes the one who waits for a turn to change. */
export interface Bell {
  ring(): void
  /** Resolves with the next ring. */
  rung(): Promise<void>
}

export function createBell(): Bell {
  let wake = (): void => {}
  return {
    ring: () => wake(),
    rung: () =>
      new Promise((resolve) => {
        wake = resolve
      }),
  }
}

/** A recorder of this object: it gives seqs, and deadlines to what runs or waits. */
export function recorderFor(host: TurnHost, stored: StoredMessage, options: RecorderOptions = {}): Recorder {
  const { store, nextSeq, now, times, resolver } = host
  const deadlineFor = (status: MessageStatus): number =>
    now() + (status === "waiting" ? times.approvalMs : times.turnMs)
  return createRecorder(store, stored, nextSeq, { deadlineFor, resolver, ...options })
}

export function isOver(run: Run): boolean {
  return isEnded(run.recorder.message().status)
}

/** Writes what was gathered, then sends it. */
export function publish(host: TurnHost, run: Run): void {
  if (run.window !== null) clearTimeout(run.window)
  run.window = null
  run.hasSpoken = true
  const flushed = run.recorder.flush()
  if (flushed === null) return
  host.sockets.sendOps(flushed.seq, flushed.ops, run.recorder.shown())
}

/** Feeds one event and sees to it that it is shown: the first of a turn at once, the others with their window. */
export function say(host: TurnHost, run: Run, event: TurnEvent): void {
  run.recorder.feed(event)
  showSoon(host, run)
}

/** Sees to it that what was fed is shown. */
export function showSoon(host: TurnHost, run: Run): void {
  if (!run.hasSpoken || run.recorder.waiting() >= WINDOW_CHARS) return publish(host, run)
  run.window ??= setTimeout(() => publishLater(host, run), WINDOW_MS)
}

function publishLater(host: TurnHost, run: Run): void {
  try {
    publish(host, run)
  } catch (error) {
    failLater(run, error)
    if (run.producer === null) return
    // Nobody here moves it: it is ended from its rows.
    host.resetSeq()
    host.goOn()
  }
}

/** The tool that a call asks for; undefined where this turn has none of that name. */
export function toolNamed({ answerer }: Run, name: string): Tool | undefined {
  return answerer.tools.find((tool) => tool.name === name)
}

/** Feeds what a person decided of some calls, and shows it. */
export function decideCalls(
  host: TurnHost,
  run: Run,
  approval: "allowed" | "denied",
  call_ids: readonly string[],
): void {
  for (const call_id of call_ids) run.recorder.feed({ type: "tool_approval", call_id, approval })
  publish(host, run)
}

/** Its duration belongs to the thought, however it ends. */
export function endThinking(host: TurnHost, run: Run): void {
  if (run.thinkingSince === null) return
  run.recorder.feed({ type: "thinking_done", ms: host.now() - run.thinkingSince })
  run.thinkingSince = null
}

/** Nobody waits for a timer or a tool, so what it meets is kept for `move`, which is woken. */
export function failLater(run: Run, error: unknown): void {
  run.failure ??= error
  run.abort.abort()
  run.bell.ring()
}

/** Ends a turn, once. What was gathered and not yet written goes along; the model and the tools are told to stop. */
export function finish(
  host: TurnHost,
  run: Run,
  status: "completed" | "failed" | "interrupted",
  reason: TurnFault | null,
): void {
  if (isOver(run)) return
  end(host, run, status, reason)
  publish(host, run)
  letGo(run)
  logEnd(host, run)
}

/**
 * Stops a turn because somebody asked for it: written first, then aborted (law 7). What was shown stays; deltas that are
 * not written yet, and all that comes later, are dropped.
 */
export function cancelRun(host: TurnHost, run: Run): void {
  const recorder = recorderFor(host, run.recorder.shown(), { forgetHeld: true })
  const before = run.recorder
  run.recorder = recorder
  try {
    end(host, run, "cancelled", null)
    publish(host, run)
  } catch (error) {
    run.recorder = before
    throw error
  }
  letGo(run)
  logEnd(host, run)
}

function end(
  host: TurnHost,
  run: Run,
  status: "completed" | "failed" | "interrupted" | "cancelled",
  reason: TurnFault | null,
): void {
  const { recorder, startedMs, inputTokens, outputTokens } = run
  endThinking(host, run)
  const tokens = outputTokens === 0 ? {} : { input_tokens: inputTokens, output_tokens: outputTokens }
  const metrics = { ms: host.now() - startedMs, steps: recorder.message().step, ...tokens }
  recorder.feed({ type: "end", status, reason, metrics })
}

/** Stops whatever still works for a run; what it has gathered is given up. */
export function letGo(run: Run): void {
  run.recorder.drop()
  run.abort.abort()
  run.bell.ring()
  if (run.window !== null) clearTimeout(run.window)
  if (run.limit !== null) clearTimeout(run.limit)
}

function logEnd({ log, store }: TurnHost, { recorder, rowsBefore }: Run): void {
  const { status, reason, metrics } = recorder.message()
  const { read, written } = store.rows()
  const rows = { rows_written: written - rowsBefore.written, rows_read: read - rowsBefore.read }
  log("turn_end", { status, reason, ...metrics, ...rows, drift: recorder.drift })
}
