/**
 * hidden-sessions.test.ts: tests deleted sessions that can still be restored, failed erasures, and unread marks when
 * calls fail.
 */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import { Directory } from "../../worker/directory/directory-object.ts"
import type { TurnNews } from "../../worker/platform/rpc/directory-rpc.ts"
import { Session } from "../../worker/session/session-object.ts"
import { connect } from "../support/socket.ts"
import { call, makeSession, openSocket, refusal, tablesOf, tokenOf } from "./http.ts"
import { askQuestion } from "./tenant-transfer.ts"

const UNKNOWN = refusal(404, "session_unknown")
const MINUTE_MS = 60_000

afterEach(() => {
  vi.restoreAllMocks()
})

const directoryOf = (tenant: string) => env.DIRECTORY.getByName(`${tenant}:ada`)
const objectOf = (tenant: string, id: string) => env.SESSION.getByName(`${tenant}:${id}`)
const claimsOf = (tenant: string) => ({ tenant, user: "ada", expires: 4_000_000_000, token: null, issued: 0 })

async function hideSession(id: string, token: string): Promise<void> {
  expect((await call(`/v1/sessions/${id}?undo=1`, { method: "DELETE", token })).status).toBe(202)
}

async function restoreSession(id: string, token: string) {
  return await call(`/v1/sessions/${id}/restore`, { method: "POST", token, body: "{}" })
}

/** Makes all hidden sessions due. */
async function makeDue(tenant: string): Promise<void> {
  await runInDurableObject(directoryOf(tenant), (_object, { storage: { sql } }) => {
    sql.exec("UPDATE sessions SET gone = 1 WHERE gone IS NOT NULL")
  })
}

function listHidden(tenant: string) {
  return runInDurableObject(directoryOf(tenant), (_object, { storage: { sql } }) =>
    sql
      .exec<{ id: string }>("SELECT id FROM sessions WHERE gone IS NOT NULL ORDER BY id")
      .toArray()
      .map(({ id }) => id),
  )
}

describe("a hidden session", () => {
  test("[OG30] refuses messages over HTTP and sockets, can be read, and accepts messages again once restored", async () => {
    const token = await tokenOf("og30", "ada")
    const id = await makeSession(token, "Basalt")
    await askQuestion(id, token, "/say one")
    const client = await connect(id, claimsOf("og30"))
    await hideSession(id, token)
    client.say({ type: "send", id: "lost", content: "/say two" })
    const refused = await client.untilTrue((frame) => frame.type === "error")
    expect(refused).toMatchObject({ code: "session_unknown", id: "lost" })
    const send = (message: string) =>
      call(`/v1/sessions/${id}/messages`, {
        method: "POST",
        token,
        body: JSON.stringify({ id: message, content: "/say two" }),
      })
    const readPage = () => call(`/v1/sessions/${id}/conversation/recent`, { token })
    expect(await send("lost")).toEqual(UNKNOWN)
    // Evict the object. It must have stored the mark.
    await evictDurableObject(objectOf("og30", id))
    expect(await send("lost")).toEqual(UNKNOWN)
    expect((await readPage()).json.messages).toHaveLength(2)
    // The session must still be found for its owner, so that the owner can erase it at once.
    expect((await objectOf("og30", id).checkOwner({ tenant: "og30", user: "ada" })).ok).toBe(true)
    expect((await restoreSession(id, token)).status).toBe(204)
    expect((await send("kept")).status).toBe(202)
    await expect.poll(async () => (await readPage()).json.messages.at(-1)?.status).toBe("completed")
    expect((await readPage()).json.messages.map((message: { id: string }) => message.id)).not.toContain("lost")
  })

  test("[OG30] stays hidden if it can't be reached when the user restores it, and can be restored later", async () => {
    const token = await tokenOf("og30b", "ada")
    const id = await makeSession(token, "Slate")
    await hideSession(id, token)
    vi.spyOn(Session.prototype, "setHidden").mockImplementationOnce(() => {
      throw new Error("cut off")
    })
    expect((await restoreSession(id, token)).status).toBe(500)
    expect(await listHidden("og30b")).toEqual([id])
    expect((await restoreSession(id, token)).status).toBe(204)
    expect(await listHidden("og30b")).toEqual([])
  })

  test("[OG30] is erased completely, and a new session with its id isn't hidden", async () => {
    const token = await tokenOf("og30c", "ada")
    const id = await makeSession(token, "Marl")
    await hideSession(id, token)
    await makeDue("og30c")
    await runDurableObjectAlarm(directoryOf("og30c"))
    await expect.poll(() => tablesOf(objectOf("og30c", id))).toEqual([])
    expect((await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id }) })).status).toBe(201)
    await askQuestion(id, token, "/say hello")
  })
})

describe("failed erasures", () => {
  test("[OG31] don't delay another erasure even if there are 25, can't be undone, and are repeated until they succeed", async () => {
    const tenant = "og31"
    const token = await tokenOf(tenant, "ada")
    const ids: string[] = []
    for (let n = 0; n < 26; n++) ids.push(await makeSession(token, `Title ${n}`))
    const last = ids.at(-1) ?? ""
    const body = JSON.stringify({ action: "delete", ids, undo: true })
    expect((await call("/v1/sessions/bulk", { method: "POST", token, body })).status).toBe(200)
    const { erase } = Session.prototype
    const erasing = vi.spyOn(Session.prototype, "erase").mockImplementation(async function (this: Session, ...args) {
      const { id } = (this as unknown as { ctx: DurableObjectState }).ctx
      if (id.name === `${tenant}:${last}`) return await erase.apply(this, args)
      throw new Error("cut off")
    })
    await makeDue(tenant)
    // Make the last session due after the others.
    await runInDurableObject(directoryOf(tenant), (_object, { storage: { sql } }) => {
      sql.exec("UPDATE sessions SET gone = 2 WHERE id = ?", last)
    })
    for (const _ of [1, 2]) await runDurableObjectAlarm(directoryOf(tenant))
    const failed = ids.slice(0, -1).sort()
    expect(await listHidden(tenant)).toEqual(failed)
    const readAlarm = () =>
      runInDurableObject(directoryOf(tenant), async (_object, { storage }) => (await storage.getAlarm()) ?? 0)
    expect((await readAlarm()) - Date.now()).toBeGreaterThan(0)
    expect((await readAlarm()) - Date.now()).toBeLessThanOrEqual(10_000)
    expect(await restoreSession(failed[0] ?? "", token)).toEqual(UNKNOWN)
    erasing.mockRestore()
    await makeDue(tenant)
    for (const _ of [1, 2]) await runDurableObjectAlarm(directoryOf(tenant))
    expect(await listHidden(tenant)).toEqual([])
  })

  test("[OG8] of expired temporary sessions are repeated by an alarm, and then leave nothing", async () => {
    const token = await tokenOf("og8c", "ada")
    const made = await call("/v1/sessions", { method: "POST", token, body: '{"temporary":true}' })
    const { id } = made.json
    const stub = objectOf("og8c", id)
    await runInDurableObject(stub, (_object, { storage }) => {
      storage.sql.exec("UPDATE session SET erases_at = 1")
    })
    await evictDurableObject(stub)
    vi.spyOn(Directory.prototype, "removeSession").mockRejectedValueOnce(new Error("cut off"))
    await runInDurableObject(stub, async (object) => {
      await expect((object as Session).alarm()).rejects.toThrow()
    })
    const alarm = await runInDurableObject(stub, async (_object, { storage }) => (await storage.getAlarm()) ?? 0)
    expect(alarm).toBeGreaterThan(Date.now())
    expect(alarm).toBeLessThanOrEqual(Date.now() + MINUTE_MS)
    expect(await runDurableObjectAlarm(stub)).toBe(true)
    expect(await tablesOf(stub)).toEqual([])
    expect(await directoryOf("og8c").listEntries(null, 10)).toEqual([])
  })
})

describe("the unread mark", () => {
  const readUnread = async (token: string): Promise<boolean | undefined> =>
    (await call("/v1/sessions", { token })).json.sessions[0]?.unread

  test("[OG32] is set by a later attempt if the first report that the turn has ended fails", async () => {
    const token = await tokenOf("og32", "ada")
    const id = await makeSession(token)
    const { setRunning } = Directory.prototype
    let failures = 0
    vi.spyOn(Directory.prototype, "setRunning").mockImplementation(async function (this: Directory, ...args) {
      const [, running] = args
      if (running || failures > 0) return await setRunning.apply(this, args)
      failures++
      throw new Error("cut off")
    })
    await askQuestion(id, token, "/say hello")
    await expect.poll(() => failures).toBe(1)
    await evictDurableObject(objectOf("og32", id))
    await runDurableObjectAlarm(objectOf("og32", id))
    await expect.poll(() => readUnread(token)).toBe(true)
  })

  test("[OG32] isn't set again if the report is repeated after the user has read the answer", async () => {
    const token = await tokenOf("og32b", "ada")
    const id = await makeSession(token)
    const news: TurnNews = { isUnattended: true }
    const directory = directoryOf("og32b")
    await directory.setRunning(id, true)
    await directory.setRunning(id, false, undefined, news)
    expect(await readUnread(token)).toBe(true)
    const { socket } = await openSocket(id, token)
    await expect.poll(() => readUnread(token)).toBeUndefined()
    await directory.setRunning(id, false, undefined, news)
    expect(await readUnread(token)).toBeUndefined()
    socket.close(1000)
  })
})
