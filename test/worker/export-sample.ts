/** export-sample.ts: fills a session with every kind of content, and exports it. */

import { expect } from "vitest"
import { CLAIMS, connect, pageOf, sessionOf, type TestClient } from "../support/socket.ts"
import { call, say, script } from "./session-helpers.ts"

/** Exports a session as JSONL, either as a whole or after a position. */
export async function exportOf(id: string, after: number | null = null): Promise<string> {
  const exported = await sessionOf(id).export(CLAIMS, after)
  if (!exported.ok) throw new Error(exported.fault.reason)
  return await new Response(exported.value.lines).text()
}

/** Fills a session with cards, tools with output, a turn with two steps and an edited question. */
export async function fillSession(id: string): Promise<TestClient> {
  const client = await connect(id)
  client.say({ type: "send", id: "q1", content: "What's the weather in London and in Tokyo?" })
  const first = await client.untilEnd("q1")
  const steps = [[say("Half "), call("probe_stream", { lines: 3 })], [say("done.")]]
  client.say({ type: "send", id: "q2", content: script(...steps) })
  await client.untilEnd("q2")
  client.say({ type: "edit", id: "e1", message: "q2", content: "/say edited" })
  await expect.poll(async () => (await pageOf(id)).messages.at(-1)?.status).toBe("completed")
  expect(first.status).toBe("completed")
  return client
}
