/**
 * usage.test.ts: checks that the ledgers equal the sums of the turns after kills, and that this check detects a wrong
 * sum.
 */

import { expect, test } from "vitest"
import { NO_USAGE } from "../../shared/usage/usage-totals.ts"
import { createChance } from "./chance.ts"
import { VARS } from "./run.ts"
import { startServer } from "./server.ts"
import { findUsageFaults, readAll, readUsageSums } from "./usage-rows.ts"

const SEED = 41

/** A turn with a tool call between two model calls. */
const CONTENT = `/script ${JSON.stringify([
  [
    { type: "tool_call", name: "weather", args: '{"location":"Oslo"}' },
    { type: "finish", input_tokens: 100, cached_tokens: 64, output_tokens: 7 },
  ],
  [
    { type: "text_delta", delta: "Cold " },
    { type: "pause", ms: 40 },
    { type: "text_delta", delta: "there." },
    { type: "finish", input_tokens: 130, output_tokens: 9, reasoning_tokens: 4 },
  ],
])}`

test("[MT5] [MT18] a server that is killed at random times between and within turns loses no call and counts none twice", async () => {
  const server = await startServer({ ...VARS, PROBE_TOOLS: "on" })
  const chance = createChance(SEED)
  try {
    const sessions = await Promise.all([1, 2, 3].map(() => server.createSession()))
    const headers = () => ({ authorization: `Bearer ${server.token()}`, "content-type": "application/json" })
    const send = async (session: string): Promise<void> => {
      const body = JSON.stringify({ content: CONTENT })
      await fetch(`${server.url()}/v1/sessions/${session}/messages`, {
        method: "POST",
        headers: headers(),
        body,
      }).catch(() => {})
    }
    for (let i = 0; i < 4; i++) {
      // Send more messages than a batch has reports. The messages are queued, and a kill hits somewhere between them.
      await Promise.all([...sessions, ...sessions, ...sessions, ...sessions].map(send))
      await new Promise((resolve) => setTimeout(resolve, chance.int(1_000)))
      await server.crash()
    }
    const isIdle = async (): Promise<boolean> => {
      const response = await fetch(`${server.url()}/v1/sessions`, { headers: headers() })
      const { sessions: listed } = (await response.json()) as { sessions: { running: boolean }[] }
      return listed.every(({ running }) => !running)
    }
    // Open each session, because that resumes the work that a kill interrupted.
    for (const session of sessions) {
      await fetch(`${server.url()}/v1/sessions/${session}/conversation/recent`, { headers: headers() })
    }
    const today = new Date().toISOString().slice(0, 10)
    const ownerHeaders = { authorization: `Bearer ${await server.ownerToken()}` }
    // When an owner reads the totals, the directory sends a batch.
    const sendUntilBatch = async (): Promise<number> => {
      await send(sessions[0] ?? "")
      await fetch(`${server.url()}/v1/usage?from=${today}&to=${today}`, { headers: ownerHeaders })
      return readUsageSums(server.persist).tenants.calls
    }
    await expect.poll(sendUntilBatch, { timeout: 60_000, interval: 500 }).toBeGreaterThan(0)
    await expect.poll(isIdle, { timeout: 30_000 }).toBe(true)
    await server.stop()
    expect(findUsageFaults(server.persist)).toEqual([])
    expect(readUsageSums(server.persist).turns.calls).toBeGreaterThan(8)
    corruptLedger(server.persist)
    expect(findUsageFaults(server.persist)).toHaveLength(1)
  } finally {
    await server.stop()
    await server.remove()
  }
})

/** Changes the rows as if a report had been added twice. */
function corruptLedger(persist: string): void {
  const more = { ...NO_USAGE, calls: 1, input: 1, output: 1 }
  readAll(persist, "Directory", (database) => {
    const [row] = database.prepare("SELECT ledger, unsent FROM usage_session").all()
    const unsent = JSON.stringify([...(JSON.parse(String(row?.["unsent"])) as object[]), more])
    database.prepare("UPDATE usage_session SET unsent = ? WHERE ledger = ?").run(unsent, String(row?.["ledger"]))
  })
}
