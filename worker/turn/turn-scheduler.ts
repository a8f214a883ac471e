/**
 * turn-scheduler.ts: which turn of a session runs: the next of the queue, or one that another process left behind.
 *
 * send, answer of a person, alarm, wake → ADVANCE → run → the next
 * The row is the state: `advance` looks at what is stored and goes on from there. Whatever somebody asks of a turn
 * (cancel, approve) is first written, and then `advance` finds it.
 */

import type { TurnEvent } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { listCalls, isEnded, type Message, type Part, type ToolCall } from "../../shared/protocol/message.ts"
import { dropApprovalTools } from "./resolve-agent.ts"
import { selectChannel } from "../store/agent-ask-rows.ts"
import { SessionErasedError } from "../store/storage-gate.ts"
import { listCallsAwaitingApproval, isBlankPart, planRecovery } from "./turn-recovery.ts"
import { advanceTurn } from "./advance-turn.ts"
import { beginNextQueued, beginTurn, enqueueMessage } from "./begin-turn.ts"
import { endSilentRun, extendIfAlive, restoreProducer, createAckedRecordWrite } from "./external-run.ts"
import { cancelSettledAnswer, withdrawQueuedMessage } from "./settled-messages.ts"
import {
  cancelRun,
  createNotifier,
  applyApproval,
  finishRun,
  isRunEnded,
  disposeRun,
  recordFailure,
  publishChanges,
  openRecorder,
  type TurnRun,
  findTool,
  type TurnHost,
} from "./turn-run.ts"
import { isMessageSettled, type StoredMessage } from "../store/row-codec.ts"

export interface TurnScheduler {
  /** Starts a turn with a user's or an agent's message, or queues it behind the one that runs; the seq it was given. */
  startOrQueue(message: Message): number
  /** Starts a turn whose question and answer stand in other places than the end: a new version of either. */
  startVersion(stored: readonly StoredMessage[]): void
  /** Goes on with whatever is stored. Re-entrant: a second call joins the first. */
  advance(): Promise<void>
  /** Stops the answer of an exchange; the seq with which that was written. The same again has no effect. */
  cancelExchange(exchangeId: string): Result<number>
  /** What a person says to a call that waits for leave. The first word counts; the same again has no effect. */
  decideApproval(call_id: string, decision: "allow" | "deny"): Result<number>
  /** Fills in a call whose true result comes late, wherever its message stands. */
  fillToolResult(stored: StoredMessage, result: Extract<TurnEvent, { type: "tool_result" }>): void
  /** Takes a message back that waits in the queue; the seq with which that was written. The same again has no effect. */
  withdrawMessage(id: string): Result<number>
  /** The run of the answer that is under way, also one that only waits in its rows; null where none is. */
  currentRun(): TurnRun | null
  /** An answer is running, or waits for a person; or none may begin (`hold`). */
  isActive(): boolean
  /** Does something during which no turn may begin: what is sent meanwhile waits in the queue. `advance` goes on after it. */
  withTurnsPaused<T>(work: () => Promise<T>): Promise<T>
  /** A model or its tools are at work, or about to be; not where a person is waited for. */
  isRunning(): boolean
  /** The session is erased: stops whatever runs, and nothing begins any more. Writes nothing. */
  stopAll(): void
  /** Exchange whose answer runs or waits; null where none does. */
  activeExchangeId(): string | null
  /** When the object has to be woken, in milliseconds since 1970; null: nothing is under way. */
  nextAlarmAt(): number | null
  /** Does what is due: leave that nobody gave in time is refused. */
  handleAlarm(): Promise<void>
}

export function createTurnScheduler(host: TurnHost): TurnScheduler {
  const { store } = host
  let run: TurnRun | null = null
  let advancing: Promise<void> | null = null
  let isPaused = false
  let isStopped = false
  const unfinishedRun = (): TurnRun | null => (run === null || isRunEnded(run) ? null : run)

  const advanceAll = async (): Promise<void> => {
    if (isPaused) return
    run = unfinishedRun() ?? recoverTurnSafely(host)
    for (;;) {
      if (isStopped) return
      const rows = store.countRows()
      // One that could not even be ended stays the newest: the alarm tries again.
      if (unfinishedRun() === null) host.onIdle()
      if (unfinishedRun() === null && !hasUnfinishedAnswer(host) && beginNextQueued(host)) run = restoreRun(host, rows)
      const active = unfinishedRun()
      if (active === null) return
      // Its producer moves it; one that failed is ended here.
      if (active.producer !== null && active.failure === null) return
      const isAlive = await advanceSafely(host, active)
      if (!isAlive) run = null
      if (unfinishedRun() !== active) continue
      // Still the same turn: it waits for a person, in its rows alone, and this process may sleep.
      disposeRun(active)
      run = null
      return
    }
  }
  const advance = (): Promise<void> => {
    advancing ??= advanceAll().finally(() => {
      advancing = null
    })
    return advancing
  }
  /** The run of the answer that is under way, also one that only waits in its rows. */
  const currentRun = (): TurnRun | null => {
    run = unfinishedRun() ?? restoreRun(host)
    return run
  }
  /** Shows what was asked of a run. Its recorder is spent where that fails: whoever moves the turn ends it. */
  const publishSafely = (active: TurnRun, write: () => void): void => {
    try {
      write()
    } catch (error) {
      recordFailure(active, error)
      // With nobody there it is taken up anew from its rows.
      if (advancing === null) run = null
      throw error
    }
  }
  const applyDecision = (decision: "allowed" | "denied", call_ids: readonly string[]): void => {
    const active = currentRun()
    if (active === null) return
    publishSafely(active, () => applyApproval(host, active, decision, call_ids))
    active.notifier.notify()
    host.armAlarm()
  }
  const denyPendingApprovals = (): void => {
    const newest = readNewestMessage(host)
    if (newest !== null) applyDecision("denied", listCallsAwaitingApproval(newest.message))
  }
  const isActive = (): boolean =>
    isPaused || unfinishedRun() !== null || advancing !== null || hasUnfinishedAnswer(host)

  return {
    advance,
    currentRun,
    isActive,
    async withTurnsPaused(work) {
      isPaused = true
      try {
        return await work()
      } finally {
        isPaused = false
      }
    },
    startOrQueue(user) {
      // Also while a turn is being put away, and never past those who wait.
      if (isActive() || store.countQueued() > 0) {
        const seq = enqueueMessage(host, user)
        // Whoever goes on talking has answered what was asked.
        if (user.role === "user" && store.findNewestAnswer()?.status === "waiting") denyPendingApprovals()
        return seq
      }
      const rows = store.countRows()
      const seq = beginTurn(host, user)
      run = restoreRun(host, rows)
      return seq
    },
    startVersion(stored) {
      const rows = store.countRows()
      for (const one of stored) host.sockets.sendMessage(one)
      host.armAlarm()
      run = restoreRun(host, rows)
    },
    fillToolResult(stored, result) {
      const active = isMessageSettled(stored) ? null : currentRun()
      const recorder = active?.recorder ?? openRecorder(host, stored)
      recorder.feed(result)
      if (active !== null) return publishSafely(active, () => publishChanges(host, active))
      const flushed = recorder.flush()
      if (flushed !== null) host.sockets.sendOps(flushed.seq, flushed.ops, recorder.storedMessage())
    },
    withdrawMessage(id) {
      const withdrawn = withdrawQueuedMessage(host, id)
      // Also where a turn waits meanwhile: an agent may wait for what was taken back.
      host.onIdle()
      return withdrawn
    },
    cancelExchange(exchangeId) {
      const newest = readNewestMessage(host)
      if (newest === null || newest.message.exchange_id !== exchangeId || isMessageSettled(newest)) {
        const settled = cancelSettledAnswer(host, exchangeId)
        host.onIdle()
        return settled
      }
      const active = currentRun()
      if (active === null) return fail({ reason: "turn_ended" })
      cancelRun(host, active)
      return succeed(active.recorder.storedMessage().seq)
    },
    decideApproval(call_id, decision) {
      const [stored, call] = findCall(host, call_id)
      if (stored === null || call === undefined) return fail({ reason: "call_unknown" })
      const wanted = decision === "allow" ? "allowed" : "denied"
      if (call.approval === wanted) return succeed(stored.seq)
      if (call.approval !== "asked" || isMessageSettled(stored)) return fail({ reason: "call_decided" })
      applyDecision(wanted, [call_id])
      return succeed(readNewestMessage(host)?.seq ?? stored.seq)
    },
    isRunning() {
      const status = store.findNewestAnswer()?.status
      return status === "running" || (status !== "waiting" && store.countQueued() > 0)
    },
    stopAll() {
      isStopped = true
      if (run !== null) disposeRun(run)
    },
    activeExchangeId: () => (hasUnfinishedAnswer(host) ? (readNewestMessage(host)?.message.exchange_id ?? null) : null),
    nextAlarmAt() {
      // Read off the rows: a turn that waits for a person leaves the object asleep until its deadline.
      const newest = store.findNewestAnswer()
      const isWaitingInRows = newest?.status === "waiting" || newest?.isExternal === true
      const isDue =
        store.agentAsks.hasOwedAnswers() || (!isWaitingInRows && (hasUnfinishedAnswer(host) || store.countQueued() > 0))
      const alarmTimes = [isDue ? host.now() + host.times.alarmMs : null, store.agentAsks.nextExpiryMs()]
      if (isWaitingInRows) alarmTimes.push(newest.deadline)
      return alarmTimes.reduce((first, at) => (first === null || (at !== null && at < first) ? at : first), null)
    },
    handleAlarm() {
      const newest = store.findNewestAnswer()
      if (newest?.deadline != null && newest.deadline <= host.now()) {
        if (newest.status === "waiting") denyPendingApprovals()
        const externalRun = newest.isExternal ? currentRun() : null
        if (externalRun !== null && !extendIfAlive(host, externalRun)) endSilentRun(host, externalRun)
      }
      return advance()
    },
  }
}

function readNewestMessage({ store }: TurnHost): StoredMessage | null {
  return store.findMessageAt(store.readNewestPos())
}

/** A call by its id, which names the place where it was first made; one that a retry kept stands in the newest message. */
function findCall(host: TurnHost, call_id: string): readonly [StoredMessage | null, ToolCall | undefined] {
  const callIn = (stored: StoredMessage | null): ToolCall | undefined =>
    stored === null ? undefined : listCalls(stored.message).find((one) => one.call_id === call_id)
  const newest = readNewestMessage(host)
  const call = callIn(newest)
  if (call !== undefined) return [newest, call]
  const pos = /^call_(\d{1,15})_/.exec(call_id)?.[1]
  const stored = pos === undefined ? null : host.store.findMessageAt(Number(pos))
  return [stored, callIn(stored)]
}

function hasUnfinishedAnswer({ store }: TurnHost): boolean {
  const newest = store.findNewestAnswer()
  return newest !== null && !isEnded(newest.status)
}

/** A mistake of ours, or a write that failed, ends the turn and not the object. */
async function advanceSafely(host: TurnHost, run: TurnRun): Promise<boolean> {
  try {
    await advanceTurn(host, run)
    return true
  } catch (error) {
    disposeRun(run)
    if (error instanceof SessionErasedError) return false
    host.log("turn_error", { message: error instanceof Error ? error.message : "unknown" })
    failStoredTurn(host)
    return false
  }
}

/** Ends the turn from its rows alone: what a failed write left in memory was never shown, and never will be. */
function failStoredTurn(host: TurnHost): void {
  host.resetSeq()
  const stored = readNewestMessage(host)
  if (stored === null || isMessageSettled(stored)) return
  const recorder = openRecorder(host, stored, { discardPending: true })
  recorder.feed({ type: "end", status: "failed", reason: "internal", metrics: null })
  const flushed = recorder.flush()
  if (flushed !== null) host.sockets.sendOps(flushed.seq, flushed.ops, recorder.storedMessage())
}

function recoverTurnSafely(host: TurnHost): TurnRun | null {
  try {
    return recoverTurn(host)
  } catch (error) {
    host.log("turn_error", { message: error instanceof Error ? error.message : "unknown" })
    failStoredTurn(host)
    return null
  }
}

/** The turn that is stored as not ended, taken up by this process; null where there is none. */
function restoreRun(host: TurnHost, rowsBefore = host.store.countRows()): TurnRun | null {
  const stored = hasUnfinishedAnswer(host) ? readNewestMessage(host) : null
  if (stored === null) return null
  const producer = restoreProducer(host, stored)
  // Of a step that showed nothing, nothing is kept: it is run again. What comes from outside goes on where it was.
  const last = stored.message.parts.at(-1)
  const discardPending = producer === null && last !== undefined && isBlankPart(last)
  const alongside = producer === null ? {} : { alongside: createAckedRecordWrite(host.store, stored.pos, producer) }
  const channel = selectChannel(host.store.agentAsks.findInboundAsk(stored.message.exchange_id), stored.message.agent)
  const agent = host.currentAgent()
  const run: TurnRun = {
    recorder: openRecorder(host, stored, { discardPending, ...alongside }),
    agent: channel === "user" ? agent : dropApprovalTools(agent),
    channel,
    parent: stored.parent,
    producer,
    abort: new AbortController(),
    startedMs: Date.parse(stored.message.timestamp),
    rowsBefore,
    inFlight: new Set(),
    notifier: createNotifier(),
    limitTimer: null,
    hasPublished: false,
    windowTimer: null,
    failure: null,
    thinkingSinceMs: null,
    generatedChars: stored.message.parts.reduce((sum, part) => sum + countPartChars(part), 0),
    inputTokens: 0,
    outputTokens: 0,
  }
  startTimeLimit(host, run)
  return run
}

function countPartChars(part: Part): number {
  return part.type === "tool_call" ? part.call.args.length : part.text.length
}

/** A turn that waits for a person has all the time that the alarm gives it; one that runs is ended here. */
function startTimeLimit(host: TurnHost, run: TurnRun): void {
  // The alarm looks after it.
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

/** A turn that another process left behind: what was lost is said first. */
function recoverTurn(host: TurnHost): TurnRun | null {
  const run = restoreRun(host)
  if (run === null || run.producer !== null) return run
  const isRepeatable = (name: string): boolean => findTool(run, name)?.repeatable ?? false
  for (const event of planRecovery(run.recorder.currentMessage(), isRepeatable)) run.recorder.feed(event)
  try {
    publishChanges(host, run)
  } catch (error) {
    disposeRun(run)
    throw error
  }
  if (!isRunEnded(run)) return run
  disposeRun(run)
  host.log("turn_end", { status: "interrupted", reason: "process_restart" })
  return null
}
