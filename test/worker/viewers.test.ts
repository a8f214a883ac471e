/**
 * viewers.test.ts: tests a session that its owner shares with other users of the tenant, who can read the session but
 * change nothing.
 */

import { env, runInDurableObject, SELF } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_SESSION_VIEWERS, MAX_SESSIONS_LISTED, MAX_SHARED_BY_OWNER } from "../../shared/limits.ts"
import { SHARED_AFTER_SQL, SHARED_SQL } from "../../worker/directory/shared-rows.ts"
import type { Role } from "../../worker/platform/rpc/claims.ts"
import { call, HELLO, HOST, openSocket, refusal, roleToken, socketHeaders, tablesOf, tokenOf } from "./http.ts"
import { hrefOf, png, signUrls, postFile } from "./files.ts"
import { digestOf, digestBucket } from "./storage-digest.ts"

const T = "share"
const DENIED = refusal(403, "scope_denied")
const UNKNOWN = refusal(404, "session_unknown")

const createSession = (token: string, id: string, title = "Plans") =>
  call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id, title }) })
const shareWithAnybody = (token: string, id: string, user: string) =>
  call(`/v1/sessions/${id}/viewers/${user}`, { method: "PUT", token })
/** Adds a user to the tenant, and then shares a session with that user. */
const addViewer = async (token: string, id: string, user: string) => {
  if (/^[\w-]{1,64}$/.test(user)) await env.TENANT.getByName(T).registerUser({ id: user })
  return await shareWithAnybody(token, id, user)
}
const removeViewer = (token: string, id: string, user: string) =>
  call(`/v1/sessions/${id}/viewers/${user}`, { method: "DELETE", token })
const readSession = (token: string, id: string, owner?: string) =>
  call(`/v1/sessions/${id}/conversation/recent${owner === undefined ? "" : `?owner=${owner}`}`, { token })
const listShared = async (token: string) => (await call("/v1/sessions/shared", { token })).json
const sendMessage = (token: string, id: string, content: string, message = "q") =>
  call(`/v1/sessions/${id}/messages`, { method: "POST", token, body: JSON.stringify({ id: message, content }) })
const untilAnswered = (token: string, id: string, count = 2) =>
  expect
    .poll(async () => {
      const { messages } = (await readSession(token, id)).json
      return [messages.length, messages.at(-1)?.status]
    })
    .toEqual([count, "completed"])

/** Creates a session of `owner` with one question and its answer, shared with `viewer`. */
async function shareSession(owner: string, viewer: string, role: Role = "viewer") {
  const [mine, theirs] = [await tokenOf(T, owner), await roleToken(T, viewer, role)]
  const id = `${owner}-1`
  expect((await createSession(mine, id)).status).toBe(201)
  await sendMessage(mine, id, "/say secret answer")
  await untilAnswered(mine, id)
  expect(await addViewer(mine, id, viewer)).toMatchObject({
    status: 200,
    json: { user: viewer, since: expect.any(Number) },
  })
  return { mine, theirs, id }
}

/** Like `openSocket`, for another user's session. */
async function openSharedSocket(id: string, token: string, owner: string) {
  const path = `${HOST}/v1/sessions/${id}/socket?owner=${owner}`
  const { webSocket: socket, status } = await SELF.fetch(path, { headers: socketHeaders(token) })
  if (socket === null) throw new Error(`no socket: ${status}`)
  const frames: { type: string; code?: string; id?: string }[] = []
  let closed: number | null = null
  socket.addEventListener("message", ({ data }) => void frames.push(JSON.parse(String(data))))
  socket.addEventListener("close", ({ code }) => {
    closed = code
  })
  socket.accept()
  socket.send(HELLO)
  await expect.poll(() => frames[0]?.type).toBe("hello")
  return { socket, frames, closedWith: () => closed }
}

describe("a viewer", () => {
  test.each(["viewer", "member", "admin", "owner"] as const)(
    "[SH1] with the role %s reads history, live frames, files and the export",
    async (role) => {
      const owner = `o-${role}`
      const { mine, theirs, id } = await shareSession(owner, `v-${role}`, role)
      const stored = (await postFile(id, mine, png(1))).json.id
      const own = await readSession(mine, id)
      expect((await readSession(theirs, id, owner)).json).toEqual(own.json)
      const href = (
        await call(`/v1/sessions/${id}/media/sign?owner=${owner}`, {
          method: "POST",
          token: theirs,
          body: JSON.stringify({ urls: [`/media/${stored}`] }),
        })
      ).json.signed[0].href
      const file = await call(href)
      expect([file.status, file.headers.get("cache-control")]).toEqual([200, "private, no-cache"])
      const exported = await call(`/v1/sessions/${id}/events?owner=${owner}`, { token: theirs })
      expect(exported.text).toContain("secret answer")
      const { frames, socket } = await openSharedSocket(id, theirs, owner)
      await sendMessage(mine, id, "/say more", "q2")
      await expect.poll(() => frames.filter(({ type }) => type === "ops").length).toBeGreaterThan(0)
      socket.close()
      await untilAnswered(mine, id, 4)
    },
  )

  test("[SH2] names the owner in requests, so a session of their own with the same id is a different one", async () => {
    const { theirs, id } = await shareSession("sh2a", "sh2b", "member")
    expect(await readSession(theirs, id)).toEqual(UNKNOWN)
    expect((await createSession(theirs, id, "Mine")).status).toBe(201)
    await sendMessage(theirs, id, "/say mine")
    await untilAnswered(theirs, id)
    expect((await readSession(theirs, id)).text).not.toContain("secret")
    expect((await readSession(theirs, id, "sh2a")).text).toContain("secret answer")
    expect((await readSession(theirs, id, "sh2b")).text).not.toContain("secret")
    // In this case, the owner's session has the private key.
    const [ada, eve] = [await tokenOf(T, "sh2c"), await tokenOf(T, "sh2d")]
    await createSession(ada, "twin", "First")
    await createSession(eve, "twin", "Second")
    await addViewer(eve, "twin", "sh2b")
    expect((await readSession(theirs, "twin", "sh2d")).status).toBe(200)
    expect(await readSession(theirs, "twin", "sh2c")).toEqual(UNKNOWN)
    expect((await listShared(theirs)).sessions).toEqual([
      { id: "twin", owner: "sh2d", title: "Second", since: expect.any(Number) },
      { id, owner: "sh2a", title: "Plans", since: expect.any(Number) },
    ])
  })

  test("[SH3] can't change anything, whatever the role: every other route and every writing frame is scope_denied", async () => {
    const { theirs, id } = await shareSession("sh3a", "sh3b", "member")
    const stub = env.SESSION.getByName(`${T}:${id}`)
    const readState = async () => [await digestOf(stub), await digestBucket(`${T}/${id}/`)]
    const before = await readState()
    const routes: [method: string, path: string][] = [
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/messages"],
      ["POST", "/cancel"],
      ["POST", "/import"],
      ["GET", "/import"],
      ["POST", "/assets"],
      ["POST", "/external-token"],
      ["GET", "/viewers"],
      ["PUT", "/viewers/sh3c"],
      ["DELETE", "/viewers/sh3b"],
    ]
    for (const [method, path] of routes) {
      const body = method === "POST" || method === "PATCH" ? { body: '{"title":"x","content":"x"}' } : {}
      const answer = await call(`/v1/sessions/${id}${path}?owner=sh3a`, { method, token: theirs, ...body })
      expect(answer, `${method} ${path}`).toEqual(DENIED)
    }
    const { socket, frames, closedWith } = await openSharedSocket(id, theirs, "sh3a")
    const writing = [
      { type: "send", id: "f1", content: "x" },
      { type: "cancel", exchange_id: "f2" },
      { type: "approve", call_id: "f3", decision: "allow" },
      { type: "withdraw", id: "f4", message: "q" },
      { type: "retry", id: "f5", message: "q" },
      { type: "regenerate", id: "f6", message: "q" },
      { type: "edit", id: "f7", message: "q", content: "x" },
      { type: "switch", id: "f8", message: "q", version: 0 },
    ]
    for (const frame of writing) socket.send(JSON.stringify(frame))
    await expect.poll(() => frames.length).toBe(1 + writing.length)
    expect(frames.slice(1).map(({ type, code, id }) => [type, code, id])).toEqual(
      writing.map((_, n) => ["error", "scope_denied", `f${n + 1}`]),
    )
    expect(closedWith()).toBe(null)
    // The object itself must refuse too.
    const reader = { tenant: T, expires: 4e9, token: null, issued: 0 }
    for (const claims of [
      { ...reader, user: "sh3b", sharedBy: "sh3a" },
      { ...reader, user: "sh3a", role: "viewer" as const },
    ]) {
      const faults = await Promise.all([
        stub.send(claims, { id: "x", content: "x" }),
        stub.cancel(claims, null),
        stub.renameSession(claims, "x"),
        stub.erase(claims),
        stub.addViewer(claims, "x"),
        stub.removeViewer(claims, "sh3b"),
        stub.listViewers(claims),
        stub.reserveAsset(claims, 1),
      ])
      for (const fault of faults) expect(fault).toEqual({ ok: false, fault: { reason: "session_unknown" } })
    }
    expect(await readState()).toEqual(before)
  })

  test("[SH4] gets nothing more once sharing has ended: sockets close, routes and links are refused", async () => {
    const { mine, theirs, id } = await shareSession("sh4a", "sh4b")
    await addViewer(mine, id, "sh4c")
    const other = await roleToken(T, "sh4c", "viewer")
    const stored = (await postFile(id, mine, png(2))).json.id
    const urls = [`/media/${stored}`, "https://example.com/cat.png"]
    const body = JSON.stringify({ urls })
    const signed = await call(`/v1/sessions/${id}/media/sign?owner=sh4a`, { method: "POST", token: theirs, body })
    const links = signed.json.signed.map(({ href }: { href: string }) => href)
    const [theirSocket, otherSocket] = [
      await openSharedSocket(id, theirs, "sh4a"),
      await openSharedSocket(id, other, "sh4a"),
    ]
    const ownSocket = await openSocket(id, mine)
    expect((await removeViewer(mine, id, "sh4b")).status).toBe(204)
    await expect.poll(theirSocket.closedWith).toBe(4404)
    for (const link of links) expect(await call(link)).toEqual(refusal(403, "link_invalid"))
    for (const path of ["conversation/recent", "events", "socket"])
      expect(
        await call(`/v1/sessions/${id}/${path}?owner=sh4a`, {
          token: theirs,
          headers: path === "socket" ? { upgrade: "websocket" } : {},
        }),
      ).toEqual(UNKNOWN)
    expect((await listShared(theirs)).sessions).toEqual([])
    // The owner and the other viewer must be unaffected.
    const before = otherSocket.frames.length
    await sendMessage(mine, id, "/say later", "q3")
    await expect.poll(() => otherSocket.frames.length).toBeGreaterThan(before)
    expect([otherSocket.closedWith(), ownSocket.closed]).toEqual([null, null])
    expect((await call(await hrefOf(id, mine, `/media/${stored}`))).status).toBe(200)
    expect(theirSocket.frames.at(-1)).toMatchObject({ type: "error", code: "session_unknown" })
    // Repeating the request must have no effect.
    expect((await removeViewer(mine, id, "sh4b")).status).toBe(204)
  })

  test("[SH5] can't see who else may read; only the owner lists and changes the viewers", async () => {
    const { mine, theirs, id } = await shareSession("sh5a", "sh5b", "admin")
    await addViewer(mine, id, "sh5-secret")
    const seen = [
      await readSession(theirs, id, "sh5a"),
      await call("/v1/sessions/shared", { token: theirs }),
      await call(`/v1/sessions/${id}/events?owner=sh5a`, { token: theirs }),
      await call(`/v1/sessions/${id}/viewers?owner=sh5a`, { token: theirs }),
    ]
    for (const { text } of seen) expect(text).not.toContain("sh5-secret")
    for (const token of [theirs, await tokenOf(T, "sh5c"), await tokenOf("other", "sh5a")]) {
      expect(await call(`/v1/sessions/${id}/viewers`, { token })).toEqual(UNKNOWN)
      expect(await addViewer(token, id, "sh5d")).toEqual(UNKNOWN)
      expect(await removeViewer(token, id, "sh5-secret")).toEqual(UNKNOWN)
    }
    const { viewers } = (await call(`/v1/sessions/${id}/viewers`, { token: mine })).json
    expect(viewers.map(({ user }: { user: string }) => user)).toEqual(["sh5b", "sh5-secret"])
  })

  test("[SH5] of another tenant is never admitted", async () => {
    const { id } = await shareSession("sh5e", "sh5f")
    for (const tenant of ["other", `eu.${T}`, "shar", "share2"]) {
      const token = await roleToken(tenant, "sh5f", "viewer")
      expect(await readSession(token, id, "sh5e")).toEqual(UNKNOWN)
      expect((await listShared(token)).sessions).toEqual([])
    }
  })
})

describe("sharing", () => {
  test("[SH11] with a user whom the tenant doesn't know fails with user_unknown, adds nobody and stores nothing", async () => {
    const mine = await tokenOf(T, "sh11")
    await createSession(mine, "sh11-1")
    const tenant = env.TENANT.getByName(T)
    expect(await shareWithAnybody(mine, "sh11-1", "sh11-nobody")).toEqual(refusal(404, "user_unknown"))
    expect(await tenant.findUser("sh11-nobody")).toBeNull()
    expect(await tablesOf(env.DIRECTORY.getByName(`${T}:sh11-nobody`))).toEqual([])
    expect((await call("/v1/sessions/sh11-1/viewers", { token: mine })).json.viewers).toEqual([])
    // Only the user's real first contact may set the role and the name.
    await tenant.registerUser({ id: "sh11-nobody", name: "New", role: "viewer" })
    expect((await shareWithAnybody(mine, "sh11-1", "sh11-nobody")).status).toBe(200)
    expect(await tenant.findUser("sh11-nobody")).toMatchObject({ name: "New", role: "viewer" })
    await runInDurableObject(tenant, (_object, { storage }) => {
      storage.sql.exec("UPDATE users SET status = 'erasing' WHERE id = 'sh11-nobody'")
    })
    expect(await shareWithAnybody(mine, "sh11-1", "sh11-nobody")).toEqual(refusal(404, "user_unknown"))
    // Another user's session must reveal nothing about users.
    for (const user of ["sh11-nobody", "sh11"])
      expect(await shareWithAnybody(await tokenOf(T, "sh11b"), "sh11-1", user)).toEqual(UNKNOWN)
  })

  test("[SH6] is idempotent, and is refused for the owner, an invalid user and more than MAX_SESSION_VIEWERS", async () => {
    const { mine, id } = await shareSession("sh6a", "sh6b")
    const first = (await addViewer(mine, id, "sh6b")).json
    expect((await addViewer(mine, id, "sh6b")).json).toEqual(first)
    for (const user of ["sh6a", "a b", "a.b", "%2e%2e%2fx", "x".repeat(65), "ада"])
      expect(await addViewer(mine, id, user)).toEqual(refusal(400, "field_invalid", "user"))
    await runInDurableObject(env.SESSION.getByName(`${T}:${id}`), (_object, { storage }) => {
      for (let n = 1; n < MAX_SESSION_VIEWERS; n++)
        storage.sql.exec("INSERT INTO viewer (user, since) VALUES (?, 1)", `u${n}`)
    })
    expect(await addViewer(mine, id, "one-more")).toEqual(refusal(409, "viewers_full"))
    expect((await addViewer(mine, id, "sh6b")).status).toBe(200)
    expect(await tablesOf(env.DIRECTORY.getByName(`${T}:one-more`))).toEqual([])
  })

  test("[SH6] adds at most MAX_SHARED_BY_OWNER entries to another user's list", async () => {
    const mine = await tokenOf(T, "sh6c")
    for (const id of ["sh6-1", "sh6-2"]) await createSession(mine, id)
    expect((await addViewer(mine, "sh6-1", "sh6d")).status).toBe(200)
    await runInDurableObject(env.DIRECTORY.getByName(`${T}:sh6d`), (_object, { storage }) => {
      for (let n = 1; n < MAX_SHARED_BY_OWNER; n++)
        storage.sql.exec("INSERT INTO shared VALUES ('sh6c', ?, '', 1)", `s${n}`)
    })
    expect(await addViewer(mine, "sh6-2", "sh6d")).toEqual(refusal(409, "shares_full"))
    expect(await readSession(await tokenOf(T, "sh6d"), "sh6-2", "sh6c")).toEqual(UNKNOWN)
    expect((await addViewer(mine, "sh6-1", "sh6d")).status).toBe(200)
    const other = await tokenOf(T, "sh6e")
    await createSession(other, "sh6-3")
    expect((await addViewer(other, "sh6-3", "sh6d")).status).toBe(200)
  })

  test("[SH7] shared sessions are listed in pages, newest first; a page reads only the rows that it returns", async () => {
    const token = await roleToken(T, "sh7", "viewer")
    const stub = env.DIRECTORY.getByName(`${T}:sh7`)
    const count = MAX_SESSIONS_LISTED * 2 + 3
    await stub.putShared({ owner: "o0", id: "s0", title: "", since: 1 })
    await runInDurableObject(stub, (_object, { storage }) => {
      for (let n = 1; n < count; n++)
        storage.sql.exec("INSERT INTO shared VALUES (?, ?, '', ?)", `o${n % 7}`, `s${n}`, Math.floor(n / 5))
    })
    const ids: string[] = []
    let next: string | null = ""
    for (let page = 0; next !== null && page < 5; page++) {
      const { json } = await call(`/v1/sessions/shared${next === "" ? "" : `?after=${next}`}`, { token })
      ids.push(...json.sessions.map(({ id }: { id: string }) => id))
      next = json.next
    }
    expect([ids.length, new Set(ids).size, next]).toEqual([count, count, null])
    expect(await call("/v1/sessions/shared?after=1.a.b.c", { token })).toEqual(refusal(400, "field_invalid", "after"))
    const rowsRead = await runInDurableObject(stub, (_object, { storage }) => {
      const first = storage.sql.exec(SHARED_SQL, 11)
      const later = storage.sql.exec(SHARED_AFTER_SQL, 20, "o3", "s3", 11)
      return [first.toArray().length, first.rowsRead, later.toArray().length, later.rowsRead]
    })
    expect(rowsRead).toEqual([11, 11, 11, 11])
  })

  test("[SH8] a shared session has its current title in every list, and erasing it removes it from every list", async () => {
    const { mine, theirs, id } = await shareSession("sh8a", "sh8b")
    await call(`/v1/sessions/${id}`, { method: "PATCH", token: mine, body: '{"title":"Renamed"}' })
    expect((await listShared(theirs)).sessions).toMatchObject([{ id, title: "Renamed" }])
    const untitled = await createSession(mine, "sh8-untitled", "")
    await addViewer(mine, untitled.json.id, "sh8b")
    await sendMessage(mine, untitled.json.id, "/say first words")
    await expect.poll(async () => (await listShared(theirs)).sessions[0].title).toBe("/say first words")
    const { frames, closedWith } = await openSharedSocket(id, theirs, "sh8a")
    expect((await call(`/v1/sessions/${id}`, { method: "DELETE", token: mine })).status).toBe(204)
    await expect.poll(closedWith).toBe(4404)
    expect(frames.at(-1)).toMatchObject({ code: "session_unknown" })
    expect((await listShared(theirs)).sessions.map((one: { id: string }) => one.id)).toEqual(["sh8-untitled"])
    // A new session with the same id must not be shared.
    await createSession(mine, id)
    expect(await readSession(theirs, id, "sh8a")).toEqual(UNKNOWN)
  })

  test("[SH9] the sockets of a viewer whose token is revoked are closed, and nobody else's", async () => {
    const { mine, theirs, id } = await shareSession("sh9a", "sh9b")
    await addViewer(mine, id, "sh9c")
    const other = await roleToken(T, "sh9c", "viewer")
    const [viewer, second, own] = [
      await openSharedSocket(id, theirs, "sh9a"),
      await openSharedSocket(id, other, "sh9a"),
      await openSocket(id, mine),
    ]
    await call("/v1/tokens/revoke", { method: "POST", token: theirs, body: '{"all":true}' })
    await expect.poll(viewer.closedWith).toBe(4401)
    await sendMessage(mine, id, "/say still here", "q9")
    await expect.poll(() => second.frames.some(({ type }) => type === "ops")).toBe(true)
    expect([second.closedWith(), own.closed]).toEqual([null, null])
  })

  test("[SH10] isn't needed for a user's own sessions: a user with the role viewer can read them, but not change them", async () => {
    const [member, viewer] = [await tokenOf(T, "sh10"), await roleToken(T, "sh10", "viewer")]
    await createSession(member, "sh10-1")
    await sendMessage(member, "sh10-1", "/say before")
    await untilAnswered(member, "sh10-1")
    expect((await readSession(viewer, "sh10-1")).text).toContain("before")
    expect(await sendMessage(viewer, "sh10-1", "x", "q2")).toEqual(DENIED)
    expect(await createSession(viewer, "sh10-2")).toEqual(DENIED)
    expect(await addViewer(viewer, "sh10-1", "sh10b")).toEqual(DENIED)
    const { socket, received } = await openSocket("sh10-1", viewer)
    socket.send('{"type":"send","id":"f1","content":"x"}')
    await expect.poll(() => received).toEqual(["hello", "scope_denied"])
    expect((await signUrls("sh10-1", viewer, ["https://example.com/a.png"])).status).toBe(200)
    expect((await readSession(member, "sh10-1")).json.messages.length).toBe(2)
  })
})
