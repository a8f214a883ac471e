/**
 * tool-callbacks.ts: the `tool_callback` table: results that a tenant's service sends later. They are stored until the
 * turn has ended.
 *
 * The row survives a restart between the arrival of a result and the end of its call. Source: SPEC TW5.
 */

import type { Database } from "../database.ts"

/** The table is created with the first result, because most sessions have none. `result` is JSON. */
const TOOL_CALLBACK_TABLE =
  "CREATE TABLE IF NOT EXISTS tool_callback (call_id TEXT PRIMARY KEY, result TEXT NOT NULL) WITHOUT ROWID"

export type ToolCallbacks = ReturnType<typeof createToolCallbacks>

export function createToolCallbacks({ queryAll, queryFirst, hasTable }: Database) {
  const waiting = new Map<string, (result: string) => void>()
  let hasRows = false
  const read = (callId: string): string | null => {
    if (!hasTable("tool_callback")) return null
    const row = queryFirst("SELECT result FROM tool_callback WHERE call_id = ?", callId)
    if (row === null) return null
    hasRows = true
    return String(row["result"])
  }
  return {
    /** Returns the result of a call; null if none has arrived. */
    read,

    /** Stores a result, and passes it to the call that is waiting for it. Only the first result of a call counts. */
    put(callId: string, result: string): void {
      queryAll(TOOL_CALLBACK_TABLE)
      hasRows = true
      queryAll("INSERT OR IGNORE INTO tool_callback (call_id, result) VALUES (?, ?)", callId, result)
      waiting.get(callId)?.(result)
    },

    /** Resolves once the result has arrived. Rejects with the signal's reason when the signal is aborted. */
    async waitFor(callId: string, signal: AbortSignal): Promise<string> {
      signal.throwIfAborted()
      // After a restart, the result can arrive before the call waits for it again.
      const arrived = read(callId)
      if (arrived !== null) return arrived
      const arrival = Promise.withResolvers<string>()
      const abort = (): void => arrival.reject(signal.reason)
      waiting.set(callId, arrival.resolve)
      signal.addEventListener("abort", abort, { once: true })
      try {
        return await arrival.promise
      } finally {
        waiting.delete(callId)
        signal.removeEventListener("abort", abort)
      }
    },

    /**
     * Removes all results. Called at the end of every turn, so it must cost nothing if this process has seen no result.
     * A result that an earlier process stored, and whose call didn't run again, is removed together with the next
     * result.
     */
    clear(): void {
      if (hasRows) queryAll("DELETE FROM tool_callback")
      hasRows = false
    },
  }
}
