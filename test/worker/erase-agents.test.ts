/**
 * erase-agents.test.ts: tests that erasing a session also erases the sessions of asked agents, and notifies waiting
 * callers.
 */

import { runInDurableObject } from "cloudflare:test"
import { expect, test } from "vitest"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { tablesOf } from "./http.ts"
import { askAgent } from "./agents.ts"
import { freshSession, pause, say, script, toolsIn } from "./session-helpers.ts"

/** Waits until a session has asked another session. Returns the asked session's id. */
async function findAskedSession(id: string): Promise<string> {
  const readRows = () =>
    runInDurableObject(sessionOf(id), (_object, { storage }) =>
      storage.sql.exec<{ session: string }>("SELECT session FROM asked").toArray(),
    )
  await expect.poll(async () => (await readRows()).length).toBe(1)
  return (await readRows())[0]?.session ?? ""
}

/** Waits until the answer of a session has begun. */
const waitForAnswer = (id: string) =>
  expect.poll(async () => (await pageOf(id)).messages[1]?.segments.length ?? 0).toBeGreaterThan(0)

test("[RT10] the sessions of the agents that were asked are erased too, at any depth, and nothing reappears", async () => {
  const id = await freshSession("gone")
  const client = await connect(id)
  const weatherScript = script([say("w "), pause(900), say("late")])
  const agentScript = script([askAgent("weather", weatherScript, "async")], [say("r "), pause(900), say("late")])
  client.say({ type: "send", id: "q1", content: script([askAgent("researcher", agentScript, "sync")], [say("ok")]) })
  const middle = await findAskedSession(id)
  const last = await findAskedSession(middle)
  await waitForAnswer(last)
  expect(await sessionOf(id).erase(CLAIMS)).toMatchObject({ ok: true })
  await new Promise((done) => setTimeout(done, 1_500))
  for (const one of [id, middle, last]) expect(await tablesOf(sessionOf(one))).toEqual([])
})

test("[RT10] erasing only an agent's session keeps the other sessions, and notifies the waiting caller", async () => {
  const id = await freshSession("alone")
  const client = await connect(id)
  const agentScript = script([say("r "), pause(4_000), say("late")])
  client.say({ type: "send", id: "q1", content: script([askAgent("researcher", agentScript, "sync")], [say("ok")]) })
  const agent = await findAskedSession(id)
  await waitForAnswer(agent)
  expect(await sessionOf(agent).erase(CLAIMS)).toMatchObject({ ok: true })
  const answer = await client.untilEnd("q1")
  expect(answer.status).toBe("completed")
  expect(toolsIn(answer)).toMatchObject([{ status: "failed" }])
  expect(toolsIn(answer)[0]?.result).toContain("The conversation was deleted.")
  expect(await tablesOf(sessionOf(agent))).toEqual([])
})

test("[RT10] an asynchronous caller is notified that there will be no answer", async () => {
  const id = await freshSession("async")
  const client = await connect(id)
  const agentScript = script([say("r "), pause(4_000), say("late")])
  client.say({ type: "send", id: "q1", content: script([askAgent("researcher", agentScript, "async")], [say("ok")]) })
  expect(toolsIn(await client.untilEnd("q1"))).toMatchObject([{ status: "waiting" }])
  const agent = await findAskedSession(id)
  await waitForAnswer(agent)
  await sessionOf(agent).erase(CLAIMS)
  await expect.poll(async () => toolsIn((await pageOf(id)).messages[1])[0]?.status).toBe("failed")
  expect(await tablesOf(sessionOf(agent))).toEqual([])
})
