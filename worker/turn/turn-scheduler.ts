/**
 * turn-scheduler.ts: starts, continues and stops the turns of one session, one at a time.
 *
 * message, approval, alarm, restart → SCHEDULER → run → next queued message
 * The stored rows are the state. Requests such as a cancel or an approval are written first, and `advance` then
 * continues from what is stored.
 */

import type { TurnEvent } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { Message } from "../../shared/protocol/message.ts"
import { describeError } from "../platform/log.ts"
import { isMessageSettled, type StoredMessage } from "../store/row-codec.ts"
import { SessionErasedError } from "../store/storage-gate.ts"
import { advanceInSpan } from "./advance-turn.ts"
import { decideApproval, dismissWaitingCalls } from "./approvals.ts"
import { beginNextQueued, beginTurn, enqueueMessage, withdrawQueued } from "./begin-turn.ts"
import { endOverdueTurn, nextTurnAlarmAt } from "./turn-alarm.ts"
import {
  failStoredTurn,
  hasUnfinishedAnswer,
  openRun,
  readNewestMessage,
  recoverTurnSafely,
  restoreRun,
} from "./turn-recovery.ts"
import {
  type ActiveTurn,
  cancelRun,
  disposeRun,
  finishRun,
  isRunEnded,
  openRecorder,
  publishChanges,
  recordFailure,
  type TurnHost,
  type TurnRun,
} from "./turn-run.ts"

export class TurnScheduler implements ActiveTurn {
  readonly host: TurnHost
  #run: TurnRun | null = null
  /** The current pass of `advance`. */
  #advancing: Promise<void> | null = null
  #isPaused = false
  #isStopped = false

  constructor(host: TurnHost) {
    this.host = host
  }

  /**
   * Starts a turn with a message, or queues the message if a turn is active or the directory has to check a budget.
   * Returns the seq of its row.
   */
  startOrQueue(message: Message): number {
    const { host } = this
    if (this.isActive() || host.store.countQueued() > 0 || !canBeginNow(host, message)) {
      const seq = enqueueMessage(host, message)
      // A user who sends another message instead of deciding has declined.
      if (message.role === "user" && host.store.findNewestAnswer()?.status === "waiting") dismissWaitingCalls(this)
      return seq
    }
    const rows = host.store.countRows()
    const { question, answer } = beginTurn(host, message)
    host.gate.beginTurn()
    this.#run = openRun(host, answer, rows, question.message)
    return question.seq
  }

  /** Starts the turn of stored messages: a new version of a question or an answer, or an external answer. */
  startVersion(stored: readonly StoredMessage[]): void {
    const rows = this.host.store.countRows()
    if (stored.every(({ message }) => message.mode !== "external")) this.host.gate.beginTurn()
    for (const message of stored) this.host.sockets.sendMessage(message)
    this.host.armAlarm()
    this.#run = restoreRun(this.host, rows)
  }

  /** Continues from what is stored, until nothing is left to do. A second call joins the first. */
  advance(): Promise<void> {
    this.#advancing ??= this.#advanceAll().finally(() => {
      this.#advancing = null
    })
    return this.#advancing
  }

  async #advanceAll(): Promise<void> {
    if (this.#isPaused) return
    this.#run = this.#unfinishedRun() ?? recoverTurnSafely(this.host)
    for (;;) {
      if (this.#isStopped) return
      const starting = this.#unfinishedRun() === null ? this.#startNextTurn() : null
      // Waits only if the directory has to be called.
      if (starting !== null) await starting
      if (this.#isStopped || this.#isPaused) return
      const run = this.#unfinishedRun()
      if (run === null) return
      // A producer advances its own run. If the producer's write failed, the run is ended here.
      if (run.producer !== null && run.failure === null) return
      const isAlive = await advanceSafely(this.host, run)
      if (!isAlive) this.#run = null
      if (this.#unfinishedRun() !== run) continue
      // The turn is still waiting for the user. Its state is stored, so this process may sleep.
      disposeRun(run)
      this.#run = null
      return
    }
  }

  #startNextTurn(): Promise<void> | null {
    const { host } = this
    const rows = host.store.countRows()
    host.onIdle()
    // A turn that could not even be ended is still the newest; the alarm tries again.
    if (this.#unfinishedRun() !== null || hasUnfinishedAnswer(host)) return null
    const next = host.store.findNextQueued()
    if (next === null) return null
    const admitted = host.gate.check(next.message.role === "agent")
    if (!(admitted instanceof Promise)) {
      this.#beginQueued(rows, admitted)
      return null
    }
    return admitted.then(async (result) => {
      if (this.#isStopped || this.#isPaused) return
      // The message may have been withdrawn while the directory checked its budget. A different message needs a check
      // of its own.
      if (host.store.findNextQueued()?.message.id === next.message.id) return this.#beginQueued(rows, result)
      void host.gate.giveBack()
      await this.#startNextTurn()
    })
  }

  /**
   * Begins the turn of the oldest queued message. If the message was refused, its answer fails at once and can be
   * retried.
   */
  #beginQueued(rows: ReturnType<TurnHost["store"]["countRows"]>, admitted: Result<null>): void {
    const { host } = this
    const begun = beginNextQueued(host)
    if (begun === null) return
    const run = openRun(host, begun.answer, rows, begun.question.message)
    this.#run = run
    if (admitted.ok) host.gate.beginTurn()
    else {
      const { reason } = admitted.fault
      finishRun(host, run, "failed", reason === "budget_unchecked" ? reason : "budget_exhausted")
    }
  }

  #unfinishedRun(): TurnRun | null {
    return this.#run === null || isRunEnded(this.#run) ? null : this.#run
  }

  /** Returns the run of the unfinished answer, restored from its rows if it is not in memory; null if there is none. */
  currentRun(): TurnRun | null {
    this.#run = this.#unfinishedRun() ?? restoreRun(this.host)
    return this.#run
  }

  publishSafely(run: TurnRun, publish: () => void): void {
    try {
      publish()
    } catch (error) {
      recordFailure(run, error)
      // If no pass of `advance` is in progress to end the run, it is restored from storage the next time it is needed.
      if (this.#advancing === null) this.#run = null
      throw error
    }
  }

  /**
   * Allows or denies a call. Only the first decision counts; repeating it has no effect. Returns the seq of its write.
   */
  decideApproval(call_id: string, decision: "allow" | "deny"): Result<number> {
    return decideApproval(this, call_id, decision)
  }

  /**
   * Stores the late result of an asynchronous call, wherever its message is in the transcript. Clients are notified
   * only if that message is on the active path (SPEC VE8).
   */
  fillToolResult(stored: StoredMessage, result: Extract<TurnEvent, { type: "tool_result" }>): void {
    const { host } = this
    const run = isMessageSettled(stored) ? null : this.currentRun()
    const recorder = run?.recorder ?? openRecorder(host, stored, { isHidden: !host.store.isOnPath(stored.pos) })
    recorder.feed(result)
    if (run !== null) return this.publishSafely(run, () => publishChanges(host, run))
    const flushed = recorder.flush()
    if (flushed !== null) host.sockets.sendOps(flushed.seq, flushed.ops, recorder.storedMessage())
  }

  /** Stops the answer of an exchange. Repeating the call has no effect. Returns the seq of its write. */
  cancelExchange(exchangeId: string): Result<number> {
    const newest = readNewestMessage(this.host)
    if (newest === null || newest.message.exchange_id !== exchangeId || isMessageSettled(newest)) {
      const cancelled = cancelSettledAnswer(this.host, exchangeId)
      this.host.onIdle()
      return cancelled
    }
    const run = this.currentRun()
    if (run === null) return fail({ reason: "turn_ended" })
    cancelRun(this.host, run)
    return succeed(run.recorder.storedMessage().seq)
  }

  /** Withdraws a queued message. Repeating the call has no effect. Returns the seq of its write. */
  withdrawMessage(id: string): Result<number> {
    const withdrawn = withdrawQueued(this.host, id)
    // Another agent may be waiting for the answer to the withdrawn message, even while a turn is waiting.
    this.host.onIdle()
    return withdrawn
  }

  /** Whether a turn is running or waiting, or turns are paused. If so, a new message must be queued. */
  isActive(): boolean {
    const hasRun = this.#unfinishedRun() !== null || this.#advancing !== null
    return this.#isPaused || hasRun || hasUnfinishedAnswer(this.host)
  }

  /** Whether a model or tools are running or about to run. Returns false while the turn is waiting for the user. */
  isRunning(): boolean {
    const { store } = this.host
    const status = store.findNewestAnswer()?.status
    return status === "running" || (status !== "waiting" && store.countQueued() > 0)
  }

  /** Returns the exchange whose answer is running or waiting; null if there is none. */
  activeExchangeId(): string | null {
    return hasUnfinishedAnswer(this.host) ? (readNewestMessage(this.host)?.message.exchange_id ?? null) : null
  }

  /** Returns the trace of the turn that this process is running; null if there is none. Reads nothing. */
  currentTrace(): string | null {
    return this.#unfinishedRun()?.recorder.currentMessage().trace ?? null
  }

  /** Runs `work` while no turn can start. Messages that arrive are queued until the next `advance`. */
  async withTurnsPaused<T>(work: () => Promise<T>): Promise<T> {
    this.#isPaused = true
    try {
      return await work()
    } finally {
      this.#isPaused = false
    }
  }

  /** Aborts the active run for good, because the session is being erased. Writes nothing. */
  stopAll(): void {
    this.#isStopped = true
    if (this.#run !== null) disposeRun(this.#run)
  }

  /** Cancels the running or waiting turn of a session that is being erased, so that its model calls are recorded. */
  cancelForErasure(): void {
    const run = this.currentRun()
    if (run !== null && run.producer === null) cancelRun(this.host, run)
  }

  /** Returns when the object must wake, in milliseconds since 1970; null if nothing is in progress. */
  nextAlarmAt(): number | null {
    return nextTurnAlarmAt(this.host)
  }

  /** Ends overdue work, then continues. */
  handleAlarm(): Promise<void> {
    endOverdueTurn(this)
    return this.advance()
  }
}

function canBeginNow(host: TurnHost, message: Message): boolean {
  const admitted = host.gate.check(message.role === "agent")
  return !(admitted instanceof Promise) && admitted.ok
}

/**
 * Advances a run. An unexpected error or a failed write ends the turn, not the object. Returns false if the run has
 * failed.
 */
async function advanceSafely(host: TurnHost, run: TurnRun): Promise<boolean> {
  try {
    await advanceInSpan(host, run)
    return true
  } catch (error) {
    disposeRun(run)
    if (error instanceof SessionErasedError) return false
    host.log("turn_error", { error: describeError(error) })
    failStoredTurn(host, run)
    return false
  }
}

/**
 * Cancels an answer that is not active. Succeeds if the answer was already cancelled or its question is still queued.
 */
function cancelSettledAnswer(host: TurnHost, exchangeId: string): Result<number> {
  const { store } = host
  const newest = readNewestMessage(host)
  const externalPos = store.findExternalAnswerPos(exchangeId)
  const candidate =
    newest?.message.exchange_id === exchangeId ? newest : externalPos === null ? null : store.findMessageAt(externalPos)
  // An external answer has no question.
  if (candidate?.message.mode === "external") return cancelledSeq(candidate)
  const question = store.findById(exchangeId)
  if (question === null) return fail({ reason: "turn_unknown" })
  if (question.pos === null) return withdrawQueued(host, exchangeId)
  // The newest version of the answer: older ones may have ended differently.
  const answer = store.findMessageAt(store.findNewestVersion(question.pos) ?? question.pos + 1)
  return answer?.message.exchange_id === exchangeId ? cancelledSeq(answer) : fail({ reason: "turn_unknown" })
}

function cancelledSeq({ message, seq }: StoredMessage): Result<number> {
  return message.status === "cancelled" ? succeed(seq) : fail({ reason: "turn_ended" })
}
