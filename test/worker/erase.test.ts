/** erase.test.ts: tests a session's title, its erasure by its owner, and its running mark in the directory. */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject, SELF } from "cloudflare:test"
import { describe, expect, test, vi } from "vitest"
import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { Directory } from "../../worker/directory/directory-object.ts"
import type { Session } from "../../worker/session/session-object.ts"
import { call, HOST, makeSession, openSocket, refusal, tablesOf, tokenOf } from "./http.ts"
import { call as asks, pause, say, script } from "./session-helpers.ts"

const objectOf = (id: string, tenant = "era") => env.SESSION.getByName(`${tenant}:${id}`)
const listOf = async (token: string): Promise<SessionSummary[]> => (await call("/v1/sessions", { token })).json.sessions
const deleteSession = (id: string, token: string) => call(`/v1/sessions/${id}`, { method: "DELETE", token })
const sendMessage = (id: string, token: string, content: string, message = "m1") =>
  call(`/v1/sessions/${id}/messages`, { method: "POST", token, body: JSON.stringify({ id: message, content }) })
const pageOf = async (id: string, token: string) =>
  (await call(`/v1/sessions/${id}/conversation/recent?limit=50`, { token })).json

/** Returns the names of the object's tables, and its alarm. */
async function readStoredState(id: string): Promise<{ readonly tables: string[]; readonly alarm: number | null }> {
  const alarm = await runInDurableObject(objectOf(id), (_object, { storage }) => storage.getAlarm())
  return { tables: await tablesOf(objectOf(id)), alarm }
}

async function untilShown(id: string, token: string): Promise<void> {
  await expect.poll(async () => (await pageOf(id, token)).messages.at(-1)?.segments.length).toBeGreaterThan(0)
}

/** A time that is longer than any delay in these tests, in milliseconds. */
const LATE_MS = 900
const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms))

describe("a title", () => {
  const patchSession = (id: string, token: string, body: object) =>
    call(`/v1/sessions/${id}`, { method: "PATCH", token, body: JSON.stringify(body) })

  test("[RT9] is changed in the session and in the directory, and the session keeps its position in the list", async () => {
    const token = await tokenOf("era", "title")
    const [one, two] = [await makeSession(token, "One"), await makeSession(token, "Two")]
    await sendMessage(two, token, "/say hi")
    const before = await listOf(token)
    expect(await patchSession(one, token, { title: "  Rain or shine " })).toMatchObject({
      status: 200,
      json: { id: one, title: "Rain or shine" },
    })
    const after = await listOf(token)
    expect(after.map(({ title }) => title)).toEqual(["Two", "Rain or shine"])
    expect(after.map(({ active }) => active)).toEqual(before.map(({ active }) => active))
    // The first message doesn't replace the title.
    await sendMessage(one, token, "/say other words")
    await expect.poll(async () => (await listOf(token))[0]?.title).toBe("Rain or shine")
  })

  test("[RT9] is refused if it is empty or too long, or if the session is another user's, and nothing changes", async () => {
    const token = await tokenOf("era", "titles")
    const id = await makeSession(token, "Mine")
    for (const title of ["", "  \n ", "x".repeat(MAX_TITLE_CHARS + 1), 7, undefined]) {
      expect(await patchSession(id, token, { title })).toEqual(refusal(400, "field_invalid"))
    }
    for (const other of [await tokenOf("era", "eve"), await tokenOf("else", "titles")]) {
      expect(await patchSession(id, other, { title: "Theirs" })).toEqual(refusal(404, "session_unknown"))
    }
    expect(await patchSession("no.such", token, { title: "x" })).toEqual(refusal(404, "session_unknown"))
    expect((await listOf(token)).map(({ title }) => title)).toEqual(["Mine"])
  })
})

describe("an erased session", () => {
  test("[RT10] [RT11] leaves no rows, no alarm, no sockets and no directory entry; a second erasure finds no session", async () => {
    const token = await tokenOf("era", "ada")
    const id = await makeSession(token)
    const connection = await openSocket(id, token)
    await sendMessage(id, token, "/say hello")
    await untilShown(id, token)
    const erased = await deleteSession(id, token)
    expect({ status: erased.status, text: erased.text }).toEqual({ status: 204, text: "" })
    expect(await readStoredState(id)).toEqual({ tables: [], alarm: null })
    expect(await listOf(token)).toEqual([])
    await expect.poll(() => connection.closed).toBe(4404)
    expect(connection.received.at(-1)).toBe("session_unknown")
    const holders = await runInDurableObject(env.DIRECTORY.getByName("era:ada"), (_object, { storage }) =>
      storage.sql.exec("SELECT session FROM holder").toArray(),
    )
    expect(holders).toEqual([])
    for (const path of ["conversation/recent", "events"]) {
      expect(await call(`/v1/sessions/${id}/${path}`, { token })).toEqual(refusal(404, "session_unknown"))
    }
    expect(await deleteSession(id, token)).toEqual(refusal(404, "session_unknown"))
  })

  test("[RT9] ends an export in progress with an error, so that its client doesn't wait forever", async () => {
    const token = await tokenOf("era", "exporter")
    const id = await makeSession(token)
    for (const message of ["m1", "m2", "m3"]) await sendMessage(id, token, "/bench deltas=200 chars=300", message)
    await expect.poll(async () => (await pageOf(id, token)).messages.at(-1)?.status).toBe("completed")
    const init = { headers: { authorization: `Bearer ${token}` } }
    const exported = (await SELF.fetch(`${HOST}/v1/sessions/${id}/events`, init)).body?.getReader()
    expect((await exported?.read())?.done).toBe(false)
    expect((await deleteSession(id, token)).status).toBe(204)
    const readToEnd = async (): Promise<void> => {
      while ((await exported?.read())?.done === false);
    }
    await expect(readToEnd()).rejects.toThrow()
  })

  test.each([
    ["a model that is still writing", script([say("one "), pause(500), say("two"), pause(100), say("three")])],
    ["a tool that is still running", script([say("one"), asks("probe_slow", { ms: 500 })], [say("done")])],
    ["a call that waits for approval", script([say("one"), asks("probe_ask", { ms: 1 })], [say("done")])],
  ])("[RT10] %s writes nothing afterwards, even into a new session with the same id", async (what, messageText) => {
    const token = await tokenOf("era", what.replaceAll(" ", "_"))
    const id = await makeSession(token)
    const connection = await openSocket(id, token)
    await sendMessage(id, token, messageText)
    await sendMessage(id, token, "/say queued", "m2")
    await untilShown(id, token)
    expect((await deleteSession(id, token)).status).toBe(204)
    await sleep(LATE_MS)
    expect(await readStoredState(id)).toEqual({ tables: [], alarm: null })

    // Repeat this, but create a new session with the same id at once.
    const again = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id, title: "New" }) })
    expect(again.status).toBe(201)
    await sendMessage(id, token, messageText)
    await untilShown(id, token)
    expect((await deleteSession(id, token)).status).toBe(204)
    await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id, title: "Newer" }) })
    await sleep(LATE_MS)
    expect(await pageOf(id, token)).toMatchObject({ messages: [], has_more: false, seq: 0 })
    await expect.poll(async () => await listOf(token)).toMatchObject([{ id, title: "Newer", running: false }])
    connection.socket.close()
  })

  test("[RT10] does nothing when a late alarm runs, even after the object was evicted", async () => {
    const token = await tokenOf("era", "alarm")
    const id = await makeSession(token)
    await sendMessage(id, token, script([say("one"), pause(300), say("two")]))
    await untilShown(id, token)
    await deleteSession(id, token)
    await runInDurableObject(objectOf(id), (object) => (object as Session).alarm())
    expect(await runDurableObjectAlarm(objectOf(id))).toBe(false)
    await evictDurableObject(objectOf(id))
    await runInDurableObject(objectOf(id), (object) => (object as Session).alarm())
    expect(await readStoredState(id)).toEqual({ tables: [], alarm: null })
  })

  test("[RT10] may leave a socket open, but the socket can't reach a new session with the same id", async () => {
    const token = await tokenOf("era", "ghost")
    const id = await makeSession(token)
    const connection = await openSocket(id, token)
    await deleteSession(id, token)
    await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id }) })
    try {
      connection.socket.send(JSON.stringify({ type: "send", id: "ghost", content: "boo" }))
    } catch {
      // The socket is already closed.
    }
    await sleep(100)
    expect((await pageOf(id, token)).messages).toEqual([])
  })

  test("[RT11] a session can be erased only by its owner", async () => {
    const token = await tokenOf("era", "own")
    const id = await makeSession(token, "Kept")
    for (const other of [await tokenOf("era", "eve"), await tokenOf("else", "own")]) {
      expect(await deleteSession(id, other)).toEqual(refusal(404, "session_unknown"))
    }
    expect(await deleteSession("no.such", token)).toEqual(refusal(404, "session_unknown"))
    expect(await listOf(token)).toMatchObject([{ id, title: "Kept" }])
    expect((await pageOf(id, token)).messages).toEqual([])
  })

  test("[RT11] is removed from the directory when its erasure failed half-way and is repeated", async () => {
    const token = await tokenOf("era", "half")
    const id = await makeSession(token)
    // Erase the session like a process that dies before it has updated the directory.
    await runInDurableObject(objectOf(id), (_object, { storage }) => storage.deleteAll())
    await evictDurableObject(objectOf(id))
    expect((await listOf(token)).map((session) => session.id)).toEqual([id])
    expect((await deleteSession(id, token)).status).toBe(204)
    expect(await listOf(token)).toEqual([])
    expect(await tablesOf(objectOf(id))).toEqual([])
  })
})

describe("running turns", () => {
  const listRunning = async (token: string) => (await listOf(token)).map((session) => session.running)

  test("[DI5] a session is marked in the directory as running until its last turn has ended", async () => {
    const token = await tokenOf("era", "run")
    const id = await makeSession(token)
    expect(await listRunning(token)).toEqual([false])
    await sendMessage(id, token, script([say("one"), pause(600), say("two")]))
    await sendMessage(id, token, script([say("three"), pause(300)]), "m2")
    await expect.poll(() => listRunning(token)).toEqual([true])
    await sleep(700)
    expect(await listRunning(token)).toEqual([true])
    await expect.poll(() => listRunning(token)).toEqual([false])
    expect((await pageOf(id, token)).messages.at(-1)?.status).toBe("completed")
  })

  test("[DI5] a turn that is waiting for the user isn't marked; neither is a stopped turn", async () => {
    const token = await tokenOf("era", "wait")
    const id = await makeSession(token)
    await sendMessage(id, token, script([asks("probe_ask", { ms: 1 })], [say("done")]))
    await expect.poll(async () => (await pageOf(id, token)).messages.at(-1)?.status).toBe("waiting")
    await expect.poll(() => listRunning(token)).toEqual([false])
    await sendMessage(id, token, script([say("one"), pause(5_000)]), "m2")
    const readNewest = async () => (await pageOf(id, token)).messages.at(-1)
    const readShown = async () => [
      (await readNewest())?.role,
      (await readNewest())?.exchange_id,
      (await readNewest())?.segments.length,
    ]
    await expect.poll(readShown).toEqual(["assistant", "m2", 1])
    expect(await listRunning(token)).toEqual([true])
    expect((await call(`/v1/sessions/${id}/cancel`, { method: "POST", token, body: "{}" })).status).toBe(200)
    await expect.poll(() => listRunning(token)).toEqual([false])
  })

  test("[DI5] a mark left by a killed process is cleared when the session wakes up", async () => {
    const token = await tokenOf("era", "kill")
    const id = await makeSession(token)
    await env.DIRECTORY.getByName("era:kill").setRunning(id, true)
    expect(await listRunning(token)).toEqual([true])
    await evictDurableObject(objectOf(id))
    await pageOf(id, token)
    await expect.poll(() => listRunning(token)).toEqual([false])
  })

  test("[DI5] if the directory can't store a mark, the alarm retries until the directory can", async () => {
    const token = await tokenOf("era", "kept")
    const id = await makeSession(token)
    await env.DIRECTORY.getByName("era:kept").setRunning(id, true)
    await evictDurableObject(objectOf(id))
    const marking = vi.spyOn(Directory.prototype, "setRunning").mockRejectedValue(new Error("cut off"))
    await runInDurableObject(objectOf(id), (_object, { storage }) => storage.setAlarm(Date.now() + 60_000))
    expect(await runDurableObjectAlarm(objectOf(id))).toBe(true)
    expect(await listRunning(token)).toEqual([true])
    marking.mockRestore()
    expect(await runDurableObjectAlarm(objectOf(id))).toBe(true)
    // The alarm waits until the mark is stored, so that the platform repeats the alarm if the process is killed first.
    expect(await listRunning(token)).toEqual([false])
    expect((await readStoredState(id)).alarm).toBeNull()
  })

  test("[DI5] marking an unknown session, or in an unknown directory, writes nothing", async () => {
    const stub = env.DIRECTORY.getByName("era:nobody")
    await stub.setRunning("ghost", true)
    expect(await stub.removeSession("ghost")).toBe(false)
    expect(await tablesOf(stub)).toEqual([])
  })
})
