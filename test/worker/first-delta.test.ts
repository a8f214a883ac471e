/** first-delta.test.ts: tests the number of SQL statements until the first delta of an answer is written. */

import { runInDurableObject } from "cloudflare:test"
import { expect, test } from "vitest"
import { connect, createSession, sessionOf } from "../support/socket.ts"
import { pause, say, script } from "./session-helpers.ts"

/**
 * Maximum number of statements before the first delta, for every turn except the first two. Running the statements
 * takes most of the time until then.
 */
const MAX_STATEMENTS = 20

test("[ST3] few statements run before the first delta of a message's answer is written", async () => {
  await createSession("first-delta")
  const client = await connect("first-delta")
  const recordQueries = async (id: string): Promise<string[]> => {
    const queries: string[] = []
    await runInDurableObject(sessionOf("first-delta"), (_object, { storage: { sql } }) => {
      const { exec } = Object.getPrototypeOf(sql) as SqlStorage
      const recordQuery = (query: string, ...bindings: SqlStorageValue[]) => {
        queries.push(query)
        return exec.call(sql, query, ...bindings)
      }
      Object.defineProperty(sql, "exec", { configurable: true, value: recordQuery })
    })
    // The text pauses after its first delta, as a provider's text does.
    client.say({ type: "send", id, content: script([say("One"), pause(50), say(" two three.")]) })
    await client.untilEnd(id)
    await runInDurableObject(sessionOf("first-delta"), (_object, { storage: { sql } }) => {
      Reflect.deleteProperty(sql, "exec")
    })
    return queries.slice(0, queries.findIndex((query) => /INTO leaf/.test(query)) + 1)
  }
  await recordQueries("q1")
  await recordQueries("q2")
  const queries = await recordQueries("q3")
  expect(queries.at(-1)).toMatch(/INTO leaf/)
  expect(queries.length).toBeLessThanOrEqual(MAX_STATEMENTS)
})
