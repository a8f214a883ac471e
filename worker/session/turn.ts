/**
 * turn.ts: which turn of a session runs: the next of the queue, or one that another process left behind.
 *
 * send → queue → ADVANCE → run → the next
 * The row is the state: `advance` looks at what is stored and goes on from there, on every send, wake and alarm.
 */

import { type Message, openMessage } from "../../shared/message.ts"
import { isBlank, recoveryOf } from "./decide.ts"
import { createRecorder } from "./record.ts"
import { finish, isOver, move, publish, type Run, type TurnHost } from "./run.ts"
import { isQuiet } from "./store.ts"

export interface Turns {
  /** Starts a turn with a user's message, or queues it behind the one that runs; the seq it was given. */
  accept(message: Message): number
  /** Goes on with whatever is stored. Re-entrant: a second call joins the first. */
  advance(): Promise<void>
  isRunning(): boolean
}

export function createTurns(host: TurnHost): Turns {
  let run: Run | null = null
  let advancing: Promise<void> | null = null
  const running = (): Run | null => (run === null || isOver(run) ? null : run)

  const moveAll = async (): Promise<void> => {
    run = running() ?? recoverSafely(host)
    for (;;) {
      const { written } = host.store.rows()
      if (running() === null && beginNext(host)) run = takeUp(host, written)
      const current = running()
      if (current === null) return
      await moveSafely(host, current)
      // Still the same turn: it waits for somebody.
      if (running() === current) return
    }
  }
  return {
    isRunning: () => running() !== null,
    accept(user) {
      // Also while a turn is being put away, and never past those who wait.
      if (running() !== null || advancing !== null || host.store.countQueued() > 0) return enqueue(host, user)
      const { written } = host.store.rows()
      const seq = beginTurn(host, user)
      run = takeUp(host, written)
      return seq
    },
    advance() {
      advancing ??= moveAll().finally(() => {
        advancing = null
      })
      return advancing
    },
  }
}

/** A mistake of ours, or a write that failed, ends the turn and not the object. */
async function moveSafely(host: TurnHost, run: Run): Promise<void> {
  try {
    await move(host, run)
  } catch (error) {
    host.log("turn_error", { message: error instanceof Error ? error.message : "unknown" })
    letGo(run)
    endStored(host)
  }
}

/** Stops whatever still works for a run; what it has gathered is given up. */
function letGo(run: Run): void {
  run.abort.abort()
  if (run.window !== null) clearTimeout(run.window)
  if (run.limit !== null) clearTimeout(run.limit)
}

/** Ends the turn from its rows alone: what a failed write left in memory was never shown, and never will be. */
function endStored(host: TurnHost): void {
  host.resetSeq()
  const stored = host.store.at(host.store.newestPos())
  if (stored === null || isQuiet(stored)) return
  const recorder = createRecorder(host.store, stored, host.nextSeq, true)
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
function takeUp(host: TurnHost, rowsBefore = host.store.rows().written): Run | null {
  const stored = host.store.at(host.store.newestPos())
  if (stored === null || isQuiet(stored)) return null
  // Of a step that showed nothing, nothing is kept: it is run again.
  const last = stored.message.parts.at(-1)
  const forgetHeld = last !== undefined && isBlank(last)
  const startedMs = Date.parse(stored.message.timestamp)
  const run: Run = {
    recorder: createRecorder(host.store, stored, host.nextSeq, forgetHeld),
    parent: stored.parent,
    abort: new AbortController(),
    startedMs,
    rowsBefore,
    limit: null,
    hasSpoken: false,
    window: null,
    failure: null,
    thinkingSince: null,
    inputTokens: 0,
    outputTokens: 0,
  }
  const left = Math.max(startedMs + host.turnMs - host.now(), 0)
  run.limit = setTimeout(() => finishLate(host, run), left)
  return run
}

function finishLate(host: TurnHost, run: Run): void {
  try {
    finish(host, run, "failed", "turn_timeout")
  } catch (error) {
    run.failure = error
    run.abort.abort()
  }
}

/** A turn that another process left behind: what was lost is said first. */
function recover(host: TurnHost): Run | null {
  const run = takeUp(host)
  if (run === null) return null
  const isRepeatable = (name: string): boolean => host.tools.find((tool) => tool.name === name)?.repeatable ?? false
  for (const event of recoveryOf(run.recorder.message(), isRepeatable)) run.recorder.feed(event)
  publish(host, run)
  if (!isOver(run)) return run
  if (run.limit !== null) clearTimeout(run.limit)
  host.log("turn_end", { status: "interrupted", reason: "process_restart" })
  return null
}

/** Stores and shows a user's message and the empty answer to it. */
function beginTurn(host: TurnHost, user: Message): number {
  const { store, sockets } = host
  const pos = store.newestPos() + 1
  const place = { pos, parent: store.tip(), version: 1, seq: host.nextSeq() }
  const timestamp = new Date(host.now()).toISOString()
  const answer = openMessage({ id: host.nextId(), role: "assistant", exchange_id: user.id, timestamp })
  store.insertMessage(place, user)
  sockets.sendMessage({ ...place, message: user })
  const under = { pos: pos + 1, parent: pos, version: 1, seq: host.nextSeq() }
  store.insertMessage(under, answer)
  sockets.sendMessage({ ...under, message: answer })
  host.armAlarm()
  return place.seq
}

function beginNext(host: TurnHost): boolean {
  const next = host.store.nextQueued()
  if (next === null) return false
  host.store.dropQueued(next.n)
  beginTurn(host, { ...next.message, status: "completed" })
  return true
}

function enqueue(host: TurnHost, user: Message): number {
  const seq = host.nextSeq()
  const message: Message = { ...user, status: "queued" }
  host.store.pushQueue(message, seq)
  host.sockets.sendMessage({ pos: 0, parent: null, version: 1, seq, message })
  return seq
}

/** A user's message as it is accepted; its content was checked before. */
export function userMessage(id: string, content: string, now: number, reply_to: string | null): Message {
  // The store is UTF-8: what cannot be said in it is said with U+FFFD, in the frame too (law 1).
  const words = content.toWellFormed()
  const timestamp = new Date(now).toISOString()
  return openMessage({ id, role: "user", exchange_id: id, status: "completed", words, timestamp, reply_to })
}
