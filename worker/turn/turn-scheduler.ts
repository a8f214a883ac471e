/**
 * turn-scheduler.ts: which turn of a session runs: the next of the queue, or one that another process left behind.
 *
 * send, answer of a person, alarm, wake → ADVANCE → run → the next
 * The row is the state: `advance` looks at what is stored and goes on from there. Whatever somebody asks of a turn
 * (cancel, approve) is first written, and then `advance` finds it.
 */

import type { TurnEvent } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { callsOf, isEnded, type Message, type Part, type ToolCall } from "../../shared/protocol/message.ts"
import { withoutApproval } from "./resolve-agent.ts"
import { channelOf } from "../store/agent-ask-rows.ts"
import { Erased } from "../store/storage-gate.ts"
import { askedIn, isBlank, recoveryOf } from "./turn-recovery.ts"
import { move } from "./advance-turn.ts"
import { beginNext, beginTurn, enqueue } from "./begin-turn.ts"
import { endSilent, isStillThere, producerOf, toldBeside } from "./external-run.ts"
import { notRunning, withdraw } from "./settled-messages.ts"
import {
  cancelRun,
  createBell,
  decideCalls,
  finish,
  isOver,
  letGo,
  failLater,
  publish,
  recorderFor,
  type Run,
  toolNamed,
  type TurnHost,
} from "./turn-run.ts"
import { isQuiet, type StoredMessage } from "../store/row-codec.ts"

export interface Turns {
  /** Starts a turn with a user's or an agent's message, or queues it behind the one that runs; the seq it was given. */
  accept(message: Message): number
  /** Starts a turn whose question and answer stand in other places than the end: a new version of either. */
  begin(stored: readonly StoredMessage[]): void
  /** Goes on with whatever is stored. Re-entrant: a second call joins the first. */
  advance(): Promise<void>
  /** Stops the answer of an exchange; the seq with which that was written. The same again has no effect. */
  cancel(exchange: string): Result<number>
  /** What a person says to a call that waits for leave. The first word counts; the same again has no effect. */
  approve(call_id: string, decision: "allow" | "deny"): Result<number>
  /** Fills in a call whose true result comes late, wherever its message stands. */
  fill(stored: StoredMessage, result: Extract<TurnEvent, { type: "tool_result" }>): void
  /** Takes a message back that waits in the queue; the seq with which that was written. The same again has no effect. */
  withdraw(id: string): Result<number>
  /** The run of the answer that is under way, also one that only waits in its rows; null where none is. */
  current(): Run | null
  /** An answer is running, or waits for a person; or none may begin (`hold`). */
  isActive(): boolean
  /** Does something during which no turn may begin: what is sent meanwhile waits in the queue. `advance` goes on after it. */
  hold<T>(work: () => Promise<T>): Promise<T>
  /** A model or its tools are at work, or about to be; not where a person is waited for. */
  isRunning(): boolean
  /** The session is erased: stops whatever runs, and nothing begins any more. Writes nothing. */
  stop(): void
  /** Exchange whose answer runs or waits; null where none does. */
  exchange(): string | null
  /** When the object has to be woken, in milliseconds since 1970; null: nothing is under way. */
  nextAlarm(): number | null
  /** Does what is due: leave that nobody gave in time is refused. */
  wake(): Promise<void>
}

export function createTurns(host: TurnHost): Turns {
  const { store } = host
  let run: Run | null = null
  let advancing: Promise<void> | null = null
  let isHeld = false
  let isStopped = false
  const running = (): Run | null => (run === null || isOver(run) ? null : run)

  const moveAll = async (): Promise<void> => {
    if (isHeld) return
    run = running() ?? recoverSafely(host)
    for (;;) {
      if (isStopped) return
      const rows = store.rows()
      // One that could not even be ended stays the newest: the alarm tries again.
      if (running() === null) host.atRest()
      if (running() === null && !isUnderWay(host) && beginNext(host)) run = takeUp(host, rows)
      const current = running()
      if (current === null) return
      // Its producer moves it; one that failed is ended here.
      if (current.producer !== null && current.failure === null) return
      const isAlive = await moveSafely(host, current)
      if (!isAlive) run = null
      if (running() !== current) continue
      // Still the same turn: it waits for a person, in its rows alone, and this process may sleep.
      letGo(current)
      run = null
      return
    }
  }
  const advance = (): Promise<void> => {
    advancing ??= moveAll().finally(() => {
      advancing = null
    })
    return advancing
  }
  /** The run of the answer that is under way, also one that only waits in its rows. */
  const current = (): Run | null => {
    run = running() ?? takeUp(host)
    return run
  }
  /** Shows what was asked of a run. Its recorder is spent where that fails: whoever moves the turn ends it. */
  const showing = (held: Run, write: () => void): void => {
    try {
      write()
    } catch (error) {
      failLater(held, error)
      // With nobody there it is taken up anew from its rows.
      if (advancing === null) run = null
      throw error
    }
  }
  const settle = (decision: "allowed" | "denied", call_ids: readonly string[]): void => {
    const held = current()
    if (held === null) return
    showing(held, () => decideCalls(host, held, decision, call_ids))
    held.bell.ring()
    host.armAlarm()
  }
  const denyAll = (): void => {
    const newest = newestOf(host)
    if (newest !== null) settle("denied", askedIn(newest.message))
  }
  const isActive = (): boolean => isHeld || running() !== null || advancing !== null || isUnderWay(host)

  return {
    advance,
    current,
    isActive,
    async hold(work) {
      isHeld = true
      try {
        return await work()
      } finally {
        isHeld = false
      }
    },
    accept(user) {
      // Also while a turn is being put away, and never past those who wait.
      if (isActive() || store.countQueued() > 0) {
        const seq = enqueue(host, user)
        // Whoever goes on talking has answered what was asked.
        if (user.role === "user" && store.newestAnswer()?.status === "waiting") denyAll()
        return seq
      }
      const rows = store.rows()
      const seq = beginTurn(host, user)
      run = takeUp(host, rows)
      return seq
    },
    begin(stored) {
      const rows = store.rows()
      for (const one of stored) host.sockets.sendMessage(one)
      host.armAlarm()
      run = takeUp(host, rows)
    },
    fill(stored, result) {
      const held = isQuiet(stored) ? null : current()
      const recorder = held?.recorder ?? recorderFor(host, stored)
      recorder.feed(result)
      if (held !== null) return showing(held, () => publish(host, held))
      const flushed = recorder.flush()
      if (flushed !== null) host.sockets.sendOps(flushed.seq, flushed.ops, recorder.shown())
    },
    withdraw(id) {
      const taken = withdraw(host, id)
      // Also where a turn waits meanwhile: an agent may wait for what was taken back.
      host.atRest()
      return taken
    },
    cancel(exchange) {
      const newest = newestOf(host)
      if (newest === null || newest.message.exchange_id !== exchange || isQuiet(newest)) {
        const done = notRunning(host, exchange)
        host.atRest()
        return done
      }
      const held = current()
      if (held === null) return fail({ reason: "turn_ended" })
      cancelRun(host, held)
      return succeed(held.recorder.shown().seq)
    },
    approve(call_id, decision) {
      const [stored, call] = findCall(host, call_id)
      if (stored === null || call === undefined) return fail({ reason: "call_unknown" })
      const wanted = decision === "allow" ? "allowed" : "denied"
      if (call.approval === wanted) return succeed(stored.seq)
      if (call.approval !== "asked" || isQuiet(stored)) return fail({ reason: "call_decided" })
      settle(wanted, [call_id])
      return succeed(newestOf(host)?.seq ?? stored.seq)
    },
    isRunning() {
      const status = store.newestAnswer()?.status
      return status === "running" || (status !== "waiting" && store.countQueued() > 0)
    },
    stop() {
      isStopped = true
      if (run !== null) letGo(run)
    },
    exchange: () => (isUnderWay(host) ? (newestOf(host)?.message.exchange_id ?? null) : null),
    nextAlarm() {
      // Read off the rows: a turn that waits for a person leaves the object asleep until its deadline.
      const newest = store.newestAnswer()
      const isAlone = newest?.status === "waiting" || newest?.isOutside === true
      const isDue = store.asks.hasOwed() || (!isAlone && (isUnderWay(host) || store.countQueued() > 0))
      const times = [isDue ? host.now() + host.times.alarmMs : null, store.asks.nextGivenUp()]
      if (isAlone) times.push(newest.deadline)
      return times.reduce((first, at) => (first === null || (at !== null && at < first) ? at : first), null)
    },
    wake() {
      const newest = store.newestAnswer()
      if (newest?.deadline != null && newest.deadline <= host.now()) {
        if (newest.status === "waiting") denyAll()
        const silent = newest.isOutside ? current() : null
        if (silent !== null && !isStillThere(host, silent)) endSilent(host, silent)
      }
      return advance()
    },
  }
}

function newestOf({ store }: TurnHost): StoredMessage | null {
  return store.at(store.newestPos())
}

/** A call by its id, which names the place where it was first made; one that a retry kept stands in the newest message. */
function findCall(host: TurnHost, call_id: string): readonly [StoredMessage | null, ToolCall | undefined] {
  const callIn = (stored: StoredMessage | null): ToolCall | undefined =>
    stored === null ? undefined : callsOf(stored.message).find((one) => one.call_id === call_id)
  const newest = newestOf(host)
  const call = callIn(newest)
  if (call !== undefined) return [newest, call]
  const pos = /^call_(\d{1,15})_/.exec(call_id)?.[1]
  const stored = pos === undefined ? null : host.store.at(Number(pos))
  return [stored, callIn(stored)]
}

function isUnderWay({ store }: TurnHost): boolean {
  const newest = store.newestAnswer()
  return newest !== null && !isEnded(newest.status)
}

/** A mistake of ours, or a write that failed, ends the turn and not the object. */
async function moveSafely(host: TurnHost, run: Run): Promise<boolean> {
  try {
    await move(host, run)
    return true
  } catch (error) {
    letGo(run)
    if (error instanceof Erased) return false
    host.log("turn_error", { message: error instanceof Error ? error.message : "unknown" })
    endStored(host)
    return false
  }
}

/** Ends the turn from its rows alone: what a failed write left in memory was never shown, and never will be. */
function endStored(host: TurnHost): void {
  host.resetSeq()
  const stored = newestOf(host)
  if (stored === null || isQuiet(stored)) return
  const recorder = recorderFor(host, stored, { forgetHeld: true })
  recorder.feed({ type: "end", status: "failed", reason: "internal", metrics: null })
  const flushed = recorder.flush()
  if (flushed !== null) host.sockets.sendOps(flushed.seq, flushed.ops, recorder.shown())
}

function recoverSafely(host: TurnHost): Run | null {
  try {
    return recover(host)
  } catch (error) {
    host.log("turn_error", { message: error instanceof Error ? error.message : "unknown" })
    endStored(host)
    return null
  }
}

/** The turn that is stored as not ended, taken up by this process; null where there is none. */
function takeUp(host: TurnHost, rowsBefore = host.store.rows()): Run | null {
  const stored = isUnderWay(host) ? newestOf(host) : null
  if (stored === null) return null
  const producer = producerOf(host, stored)
  // Of a step that showed nothing, nothing is kept: it is run again. What comes from outside goes on where it was.
  const last = stored.message.parts.at(-1)
  const forgetHeld = producer === null && last !== undefined && isBlank(last)
  const beside = producer === null ? {} : { alongside: toldBeside(host.store, stored.pos, producer) }
  const channel = channelOf(host.store.asks.begunBy(stored.message.exchange_id), stored.message.agent)
  const answerer = host.answerer()
  const run: Run = {
    recorder: recorderFor(host, stored, { forgetHeld, ...beside }),
    answerer: channel === "user" ? answerer : withoutApproval(answerer),
    channel,
    parent: stored.parent,
    producer,
    abort: new AbortController(),
    startedMs: Date.parse(stored.message.timestamp),
    rowsBefore,
    inFlight: new Set(),
    bell: createBell(),
    limit: null,
    hasSpoken: false,
    window: null,
    failure: null,
    thinkingSince: null,
    said: stored.message.parts.reduce((sum, part) => sum + saidIn(part), 0),
    inputTokens: 0,
    outputTokens: 0,
  }
  setLimit(host, run)
  return run
}

function saidIn(part: Part): number {
  return part.type === "tool_call" ? part.call.args.length : part.text.length
}

/** A turn that waits for a person has all the time that the alarm gives it; one that runs is ended here. */
function setLimit(host: TurnHost, run: Run): void {
  // The alarm looks after it.
  if (run.producer !== null) return
  const { deadline, message } = run.recorder.shown()
  const left = message.status === "waiting" || deadline === null ? host.times.turnMs : deadline - host.now()
  run.limit = setTimeout(() => finishLate(host, run), Math.max(left, 0))
}

function finishLate(host: TurnHost, run: Run): void {
  try {
    finish(host, run, "failed", "turn_timeout")
  } catch (error) {
    failLater(run, error)
  }
}

/** A turn that another process left behind: what was lost is said first. */
function recover(host: TurnHost): Run | null {
  const run = takeUp(host)
  if (run === null || run.producer !== null) return run
  const isRepeatable = (name: string): boolean => toolNamed(run, name)?.repeatable ?? false
  for (const event of recoveryOf(run.recorder.message(), isRepeatable)) run.recorder.feed(event)
  try {
    publish(host, run)
  } catch (error) {
    letGo(run)
    throw error
  }
  if (!isOver(run)) return run
  letGo(run)
  host.log("turn_end", { status: "interrupted", reason: "process_restart" })
  return null
}
