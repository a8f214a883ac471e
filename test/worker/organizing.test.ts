/** organizing.test.ts: tests sessions that are pinned, archived, in a folder, unread, deleted or temporary. */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { BulkResult, SessionFolder, SessionPage } from "../../shared/protocol/http-body.ts"
import { MAX_SESSIONS_LISTED } from "../../shared/limits.ts"
import { TEMPORARY_MS } from "../../shared/user-limits.ts"
import { FOLDER_AFTER_SQL, FOLDER_SQL, LIST_AFTER_SQL, LIST_SQL } from "../../worker/directory/session-lists.ts"
import { MAX_FOLDERS } from "../../worker/organizing/folder-rows.ts"
import { call, makeSession, openSocket, refusal, roleToken, tablesOf, tokenOf } from "./http.ts"
import { askQuestion } from "./tenant-transfer.ts"

const UNKNOWN = refusal(404, "session_unknown")

async function list(token: string, query = ""): Promise<SessionPage["sessions"]> {
  const listed = await call(`/v1/sessions${query}`, { token })
  expect(listed.status, listed.text).toBe(200)
  return listed.json.sessions
}

async function ids(token: string, query = ""): Promise<string[]> {
  return (await list(token, query)).map(({ id }) => id)
}

async function patch(token: string, id: string, body: object) {
  return await call(`/v1/sessions/${id}`, { method: "PATCH", token, body: JSON.stringify(body) })
}

async function bulk(token: string, body: object): Promise<BulkResult[]> {
  const changed = await call("/v1/sessions/bulk", { method: "POST", token, body: JSON.stringify(body) })
  expect(changed.status, changed.text).toBe(200)
  return changed.json.results
}

async function makeFolder(token: string, name: string): Promise<SessionFolder> {
  const made = await call("/v1/folders", { method: "POST", token, body: JSON.stringify({ name }) })
  expect(made.status, made.text).toBe(201)
  return made.json
}

async function makeSessions(token: string, count: number): Promise<string[]> {
  const made: string[] = []
  for (let i = 0; i < count; i++) made.push(await makeSession(token, `Title ${i}`))
  return made
}

describe("one session", () => {
  test("[OG1] pinned sessions come first on every page, and pinning doesn't count as activity", async () => {
    const token = await tokenOf("og1", "ada")
    await makeSession(token)
    const directory = env.DIRECTORY.getByName("og1:ada")
    await runInDurableObject(directory, (_object, { storage: { sql } }) => {
      sql.exec("DELETE FROM sessions")
      sql.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
        INSERT INTO sessions (id, title, created, active, indexed) SELECT printf('s%03d', i), '', i, i, 1 FROM n`)
    })
    for (const id of ["s007", "s100"]) expect((await patch(token, id, { pinned: true })).status).toBe(200)
    const pages: string[][] = []
    for (let after: string | null = ""; after !== null; ) {
      const page: SessionPage = (await call(`/v1/sessions${after && `?after=${after}`}`, { token })).json
      pages.push(page.sessions.map(({ id }) => id))
      after = page.next
    }
    const all = pages.flat()
    expect(pages.map((page) => page.length)).toEqual([MAX_SESSIONS_LISTED, MAX_SESSIONS_LISTED, 50])
    expect(all.slice(0, 3)).toEqual(["s100", "s007", "s250"])
    expect(new Set(all).size).toBe(250)
    expect((await list(token))[0]).toEqual({
      id: "s100",
      title: "",
      created: 100,
      active: 100,
      running: false,
      pinned: true,
    })
    // Use a position in the format of an earlier version.
    expect((await ids(token, "?after=3.3.s003")).slice(0, 2)).toEqual(["s002", "s001"])
  })

  test("[OG1] a session is archived and unarchived, marked as unread and renamed, in one request or several", async () => {
    const token = await tokenOf("og1b", "ada")
    const [one, two] = await makeSessions(token, 2)
    if (one === undefined || two === undefined) throw new Error("no sessions")
    expect((await patch(token, one, { archived: true, title: "Put away" })).json).toEqual({
      id: one,
      archived: true,
      title: "Put away",
    })
    expect(await ids(token)).toEqual([two])
    expect(await list(token, "?archived=1")).toMatchObject([{ id: one, archived: true, title: "Put away" }])
    expect((await patch(token, one, { archived: false, unread: true })).status).toBe(200)
    expect(await list(token, "?archived=1")).toEqual([])
    expect((await list(token)).find(({ id }) => id === one)).toMatchObject({ unread: true })
    for (const body of [{}, { pinned: "yes" }, { title: " " }, { folder: 7 }])
      expect(await patch(token, one, body)).toEqual(refusal(400, "field_invalid"))
    expect(await patch(token, one, { folder: "none-such", title: "No" })).toEqual(refusal(404, "folder_unknown"))
    expect((await list(token)).find(({ id }) => id === one)).toMatchObject({ title: "Put away" })
  })

  test("[OG2] a page of any list reads the same number of rows with 100,000 sessions as with 300", async () => {
    const rowsRead = async (sessions: number): Promise<number[]> => {
      const stub = env.DIRECTORY.getByName(`og2:full${sessions}`)
      await stub.addSession("s", "", 0)
      return await runInDurableObject(stub, (_object, { storage: { sql } }) => {
        sql.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sessions})
          INSERT INTO sessions (id, title, created, active, indexed, shelf, pinned, folder)
          SELECT printf('s%08d', i), '', i, i, 1, i % 2, i % 97 = 0, iif(i % 3 = 0, 'f', NULL) FROM n`)
        const cursors = [
          sql.exec(LIST_SQL, 0, 20),
          sql.exec(LIST_SQL, 1, 20),
          sql.exec(LIST_AFTER_SQL, 1, 0, 150, 150, "s00000150", 20),
          sql.exec(FOLDER_SQL, 0, "f", 20),
          sql.exec(FOLDER_AFTER_SQL, 0, "f", 0, 250, 250, "s00000250", 20),
        ]
        return cursors.map((cursor) => {
          expect(cursor.toArray()).toHaveLength(20)
          return cursor.rowsRead
        })
      })
    }
    const [few, many] = [await rowsRead(300), await rowsRead(100_000)]
    expect(many).toEqual(few.map((_, i) => expect.closeTo(few[i] ?? 0, -1)))
    expect(Math.max(...many)).toBeLessThanOrEqual(45)
  })
})

describe("folders", () => {
  test("[OG3] a folder contains sessions and has a one-line name; deleting a folder keeps its sessions", async () => {
    const token = await tokenOf("og3", "ada")
    const [one, two] = await makeSessions(token, 2)
    if (one === undefined || two === undefined) throw new Error("no sessions")
    const folder = await makeFolder(token, "  Trips\u202e\n ")
    expect(folder).toEqual({ id: expect.any(String), name: "Trips", created: expect.any(Number) })
    expect((await patch(token, one, { folder: folder.id })).status).toBe(200)
    expect(await ids(token, `?folder=${folder.id}`)).toEqual([one])
    expect((await list(token)).map((session) => session.folder)).toEqual([undefined, folder.id])
    const renamed = await call(`/v1/folders/${folder.id}`, { method: "PATCH", token, body: '{"name":"Journeys"}' })
    expect(renamed.json).toEqual({ ...folder, name: "Journeys" })
    expect((await call("/v1/folders", { token })).json).toEqual({ folders: [{ ...folder, name: "Journeys" }] })
    expect((await call(`/v1/folders/${folder.id}`, { method: "DELETE", token })).status).toBe(204)
    expect(await ids(token)).toEqual([two, one])
    expect((await list(token)).map((session) => session.folder)).toEqual([undefined, undefined])
    for (const method of ["PATCH", "DELETE"])
      expect(await call(`/v1/folders/${folder.id}`, { method, token, body: '{"name":"x"}' })).toEqual(
        refusal(404, "folder_unknown"),
      )
  })

  test("[OG3] names and the number of folders are limited; creating one twice has no effect", async () => {
    const token = await tokenOf("og3b", "ada")
    for (const name of ["", "   ", "x".repeat(61), 7])
      expect(await call("/v1/folders", { method: "POST", token, body: JSON.stringify({ name }) })).toEqual(
        refusal(400, "field_invalid"),
      )
    expect(await tablesOf(env.DIRECTORY.getByName("og3b:ada"))).toEqual([])
    const body = '{"id":"f1","name":"One"}'
    for (const _ of [1, 2]) expect((await call("/v1/folders", { method: "POST", token, body })).status).toBe(201)
    for (let i = 1; i < MAX_FOLDERS; i++) await makeFolder(token, `F${i}`)
    expect(await call("/v1/folders", { method: "POST", token, body: '{"name":"One too many"}' })).toEqual(
      refusal(409, "folders_full"),
    )
    expect((await call("/v1/folders", { token })).json.folders).toHaveLength(MAX_FOLDERS)
  })
})

describe("unread", () => {
  test("[OG4] an answer that ends while the user has no socket is unread until the user opens the session", async () => {
    const token = await tokenOf("og4", "ada")
    const id = await makeSession(token)
    const isUnread = async (): Promise<boolean | undefined> => (await list(token))[0]?.unread
    await askQuestion(id, token, "/say hello")
    await expect.poll(isUnread).toBe(true)
    const { socket } = await openSocket(id, token)
    await expect.poll(isUnread).toBeUndefined()
    await askQuestion(id, token, "/say again")
    await expect.poll(async () => (await list(token))[0]?.running).toBe(false)
    expect(await isUnread()).toBeUndefined()
    socket.close(1000)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await askQuestion(id, token, "/say once more")
    await expect.poll(isUnread).toBe(true)
    expect((await patch(token, id, { unread: false })).status).toBe(200)
    expect(await isUnread()).toBeUndefined()
  })
})

describe("many sessions", () => {
  test("[OG5] one request changes up to 100 sessions, and returns a result for each", async () => {
    const token = await tokenOf("og5", "ada")
    const [one, two, three] = await makeSessions(token, 3)
    const theirs = await makeSession(await tokenOf("og5", "eve"))
    const results = await bulk(token, { action: "archive", ids: [one, theirs, "nothing", three] })
    expect(results).toEqual([
      { id: one, ok: true },
      { id: theirs, ok: false, code: "session_unknown", text: expect.any(String) },
      { id: "nothing", ok: false, code: "session_unknown", text: expect.any(String) },
      { id: three, ok: true },
    ])
    expect(await ids(token)).toEqual([two])
    const folder = await makeFolder(token, "Box")
    await bulk(token, { action: "unarchive", ids: [one, three] })
    await bulk(token, { action: "move", ids: [one, three], folder: folder.id })
    expect(await ids(token, `?folder=${folder.id}`)).toEqual([three, one])
    expect(await bulk(token, { action: "move", ids: [one], folder: "none-such" })).toMatchObject([
      { ok: false, code: "folder_unknown" },
    ])
    await bulk(token, { action: "move", ids: [one], folder: null })
    await bulk(token, { action: "pin", ids: [one] })
    expect(await ids(token)).toEqual([one, three, two])
    for (const body of [
      { action: "archive", ids: [] },
      { action: "archive", ids: Array.from({ length: 101 }, (_, i) => `s${i}`) },
      { action: "burn", ids: [one] },
      { action: "move", ids: [one] },
      { action: "archive", ids: ["a b"] },
    ])
      expect(await call("/v1/sessions/bulk", { method: "POST", token, body: JSON.stringify(body) })).toEqual(
        refusal(400, "field_invalid"),
      )
  })

  test("[OG5] deleted sessions disappear at once and are erased by the alarm", async () => {
    const token = await tokenOf("og5b", "ada")
    const sessions = await makeSessions(token, 5)
    await askQuestion(sessions[0] ?? "", token, "/say limestone")
    expect(await bulk(token, { action: "delete", ids: sessions })).toEqual(sessions.map((id) => ({ id, ok: true })))
    expect(await ids(token)).toEqual([])
    const directory = env.DIRECTORY.getByName("og5b:ada")
    await runDurableObjectAlarm(directory)
    for (const id of sessions) await expect.poll(() => tablesOf(env.SESSION.getByName(`og5b:${id}`))).toEqual([])
    await expect.poll(async () => (await directory.listEntries(null, 10)).length).toBe(0)
  })
})

describe("deleting with undo", () => {
  test("[OG6] the session disappears from lists and search, and is restored unchanged", async () => {
    const token = await tokenOf("og6", "ada")
    const id = await makeSession(token, "Granite")
    await patch(token, id, { archived: true, pinned: true })
    const found = async (): Promise<number> => (await call("/v1/search?q=granite", { token })).json.hits.length
    expect(await found()).toBe(1)
    const now = Date.now()
    const deleted = await call(`/v1/sessions/${id}?undo=1`, { method: "DELETE", token })
    expect([deleted.status, deleted.json]).toEqual([202, { id, erases_at: expect.any(Number) }])
    expect(deleted.json.erases_at - now).toBeGreaterThanOrEqual(30_000)
    expect([await ids(token), await ids(token, "?archived=1"), await found()]).toEqual([[], [], 0])
    expect(await patch(token, id, { pinned: false })).toEqual(UNKNOWN)
    const again = await call(`/v1/sessions/${id}?undo=1`, { method: "DELETE", token })
    expect(again.json.erases_at).toBe(deleted.json.erases_at)
    for (const _ of [1, 2]) {
      const restored = await call(`/v1/sessions/${id}/restore`, { method: "POST", token, body: "{}" })
      expect(restored.status).toBe(204)
    }
    expect(await list(token, "?archived=1")).toMatchObject([{ id, pinned: true, archived: true, title: "Granite" }])
    expect(await found()).toBe(1)
  })

  test("[OG6] the session is erased when the time has passed, even after an eviction, and can no longer be restored", async () => {
    const token = await tokenOf("og6b", "ada")
    const id = await makeSession(token, "Shale")
    await call(`/v1/sessions/${id}?undo=1`, { method: "DELETE", token })
    // The id can't be used yet, because a new session would be erased together with the deleted one.
    expect(await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id }) })).toEqual(UNKNOWN)
    const directory = env.DIRECTORY.getByName("og6b:ada")
    await runInDurableObject(directory, (_object, { storage: { sql } }) => {
      sql.exec("UPDATE sessions SET gone = 1")
    })
    await evictDurableObject(directory)
    expect(await call(`/v1/sessions/${id}/restore`, { method: "POST", token, body: "{}" })).toEqual(UNKNOWN)
    await runDurableObjectAlarm(directory)
    expect(await tablesOf(env.SESSION.getByName(`og6b:${id}`))).toEqual([])
    expect((await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id }) })).status).toBe(201)
    await call(`/v1/sessions/${id}`, { method: "DELETE", token })
    expect(await directory.listEntries(null, 10)).toEqual([])
    expect(
      await runInDurableObject(directory, (_object, { storage: { sql } }) =>
        sql.exec("SELECT * FROM search_entry").toArray(),
      ),
    ).toEqual([])
  })
})

test("[OG7] another user can change nothing, and a user with the role viewer can only read", async () => {
  const token = await tokenOf("og7", "ada")
  const id = await makeSession(token, "Mine")
  const folder = await makeFolder(token, "Mine")
  const [eve, other] = [await tokenOf("og7", "eve"), await tokenOf("og7x", "ada")]
  for (const as of [eve, other]) {
    expect(await patch(as, id, { pinned: true })).toEqual(UNKNOWN)
    expect(await call(`/v1/sessions/${id}?undo=1`, { method: "DELETE", token: as })).toEqual(UNKNOWN)
    expect(await call(`/v1/sessions/${id}/restore`, { method: "POST", token: as, body: "{}" })).toEqual(UNKNOWN)
    expect(await call(`/v1/folders/${folder.id}`, { method: "DELETE", token: as })).toEqual(
      refusal(404, "folder_unknown"),
    )
    expect((await call("/v1/folders", { token: as })).json.folders).toEqual([])
    expect(await bulk(as, { action: "delete", ids: [id] })).toMatchObject([{ ok: false }])
  }
  const viewer = await roleToken("og7", "ada", "viewer")
  expect(await patch(viewer, id, { pinned: true })).toEqual(refusal(403, "scope_denied"))
  expect((await call("/v1/folders", { token: viewer })).json.folders).toHaveLength(1)
  expect(await list(token)).toEqual([expect.objectContaining({ id, title: "Mine" })])
})

describe("a temporary session", () => {
  async function makeTemporary(token: string): Promise<string> {
    const made = await call("/v1/sessions", { method: "POST", token, body: '{"temporary":true,"title":"Ephemeral"}' })
    expect([made.status, made.json.temporary]).toEqual([201, true])
    return made.json.id
  }

  test("[OG8] is in no list and no search, and is marked", async () => {
    const token = await tokenOf("og8", "ada")
    const id = await makeTemporary(token)
    await askQuestion(id, token, "/say schist")
    expect([await ids(token), await ids(token, "?archived=1")]).toEqual([[], []])
    expect((await call("/v1/search?q=schist", { token })).json.hits).toEqual([])
    expect((await call("/v1/search?q=ephemeral", { token })).json.hits).toEqual([])
    expect((await call(`/v1/sessions/${id}/conversation/recent`, { token })).json).toMatchObject({ temporary: true })
    const plain = await makeSession(token)
    expect((await call(`/v1/sessions/${plain}/conversation/recent`, { token })).json.temporary).toBeUndefined()
    expect(await patch(token, id, { pinned: true })).toEqual(UNKNOWN)
  })

  test("[OG8] is erased by the alarm after its last socket has closed, and not before", async () => {
    const token = await tokenOf("og8b", "ada")
    const id = await makeTemporary(token)
    const stub = env.SESSION.getByName(`og8b:${id}`)
    const readTime = () =>
      runInDurableObject(stub, async (_object, { storage }) => {
        const [row] = storage.sql.exec<{ erases_at: number }>("SELECT erases_at FROM session").toArray()
        return { erasesAt: row?.erases_at ?? 0, alarm: await storage.getAlarm() }
      })
    const created = await readTime()
    expect(created.erasesAt - Date.now()).toBeGreaterThan(TEMPORARY_MS - 60_000)
    expect(created.alarm).not.toBeNull()
    const expire = () =>
      runInDurableObject(stub, (_object, { storage }) => {
        storage.sql.exec("UPDATE session SET erases_at = 1")
      })
    const { socket } = await openSocket(id, token)
    await expire()
    await runDurableObjectAlarm(stub)
    expect((await readTime()).erasesAt).toBeGreaterThan(Date.now())
    await expire()
    socket.close(1000)
    await expect.poll(async () => (await readTime()).erasesAt).toBeGreaterThan(1)
    await expire()
    await evictDurableObject(stub)
    await runDurableObjectAlarm(stub)
    expect(await tablesOf(stub)).toEqual([])
    expect(await env.DIRECTORY.getByName("og8b:ada").listEntries(null, 10)).toEqual([])
  })
})

test("[OG9] an export of the tenant lists folders, pinned and archived sessions, and an import restores them", async () => {
  const token = await tokenOf("og9", "ada")
  const [one, two] = await makeSessions(token, 2)
  const folder = await makeFolder(token, "Kept")
  await bulk(token, { action: "move", ids: [one], folder: folder.id })
  await bulk(token, { action: "pin", ids: [one] })
  await bulk(token, { action: "archive", ids: [two] })
  await call("/v1/sessions", { method: "POST", token, body: '{"temporary":true}' })
  const from = env.DIRECTORY.getByName("og9:ada")
  const entries = await from.listEntries(null, 10, true)
  expect(entries).toHaveLength(2)
  expect(await from.listEntries(null, 10)).toHaveLength(3)
  const to = env.DIRECTORY.getByName("og9:bea")
  for (const entry of entries) await to.restoreEntry(entry)
  expect(await to.listEntries(null, 10)).toEqual(entries)
  expect(await to.listFolders()).toEqual([folder])
})
