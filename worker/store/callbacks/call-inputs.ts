/**
 * call-inputs.ts: the `call_input` table: what a call asks the user, the answers so far, and the state that the call's
 * server receives back with the answers. No frame, export, copy or log contains the answers or the state. Source: SPEC
 * MP33.
 */

import type { CallInput, InputAnswer } from "../../../shared/protocol/input/call-input.ts"
import { columnToText, parseJsonColumn } from "../columns.ts"
import type { Database, Row } from "../database.ts"

/**
 * The table is created with the first question, because most sessions have none. `asked` is the JSON of StoredInput.
 */
const CALL_INPUT_TABLE =
  "CREATE TABLE IF NOT EXISTS call_input (call_id TEXT PRIMARY KEY, asked TEXT NOT NULL) WITHOUT ROWID"

/** A server's request, identified by a key that the server chose. */
export interface InputRequest {
  readonly key: string
  /** Null if the request was declined at once and therefore isn't shown. */
  readonly form: CallInput | null
  readonly answer: InputAnswer | null
}

export interface StoredInput {
  /** How many times the call has asked; 1 or more. */
  readonly round: number
  readonly requests: readonly InputRequest[]
  /** Opaque state of the server; null if the server sent none. */
  readonly state: string | null
  /** Set if the user did something else or the time has run out. In that case, unanswered questions are cancelled. */
  readonly isOver?: true
}

export type CallInputs = ReturnType<typeof createCallInputs>

/** Returns the first question without an answer; null if the call can run again. */
export function findOpenForm(stored: StoredInput | null): CallInput | null {
  return stored?.isOver === true ? null : (stored?.requests.find(({ answer }) => answer === null)?.form ?? null)
}

export function createCallInputs({ queryAll, queryFirst, hasTable }: Database) {
  let hasRows = false
  const find = (callId: string): StoredInput | null => {
    if (!hasTable("call_input")) return null
    const row = queryFirst("SELECT asked FROM call_input WHERE call_id = ?", callId)
    hasRows ||= row !== null
    return parseJsonColumn<StoredInput>(row?.["asked"])
  }
  const put = (callId: string, stored: StoredInput): void => {
    queryAll(CALL_INPUT_TABLE)
    hasRows = true
    const query = "INSERT OR REPLACE INTO call_input (call_id, asked) VALUES (?, ?)"
    queryAll(query, callId, JSON.stringify(stored))
  }
  return {
    find,
    put,

    /**
     * Returns the question whose answer a row of `tool_calls` is waiting for; null if it isn't waiting for an answer.
     */
    findAsked(row: Row): CallInput | null {
      // A call that waits for approval has no channel yet, and a call that waits for its final result already has a
      // provisional result.
      if (row["status"] !== "waiting" || row["channel"] === null || row["result"] !== null) return null
      return findOpenForm(find(columnToText(row["call_id"])))
    },

    /** Cancels the unanswered questions of a call. */
    cancel(callId: string): void {
      const stored = find(callId)
      if (stored !== null) put(callId, { ...stored, isOver: true })
    },

    /**
     * Removes all questions. Called at the end of every turn, so it must cost nothing if this process has seen no
     * question. `isLeft`: whether an earlier process may have left rows.
     */
    clear(isLeft = hasRows): void {
      if (isLeft && hasTable("call_input")) queryAll("DELETE FROM call_input")
      hasRows = false
    },
  }
}
