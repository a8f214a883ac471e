/**
 * taken-ids.test.ts: tests that a session id that another user already uses behaves like an unused one on every route.
 */

import { env, SELF } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_SESSIONS_LISTED } from "../../shared/limits.ts"
import { createOwnSession } from "../../worker/routes/access/require-session.ts"
import { createPrivateKey, keyToPublicId } from "../../worker/platform/session-key.ts"
import { call, HOST, openSocket, refusal, tablesOf, tokenOf } from "./http.ts"
import { listStoredAssets, png, postFile } from "./files.ts"
import { recordAskedSessions } from "./session-helpers.ts"

const T = "taken"
const createSession = (token: string, fields: object) =>
  call("/v1/sessions", { method: "POST", token, body: JSON.stringify(fields) })
const readRecent = (id: string, token: string) => call(`/v1/sessions/${id}/conversation/recent`, { token })
const sendMessage = (id: string, token: string, content: string) =>
  call(`/v1/sessions/${id}/messages`, { method: "POST", token, body: JSON.stringify({ id: "q", content }) })

/** Returns everything that a user sees of a session, from its creation to its erasure. Ids and times are masked. */
async function tryOut(id: string, token: string) {
  const seen: unknown[] = []
  const addSeen = ({ status, json, text }: { status: number; json: unknown; text: string }) =>
    seen.push({
      status,
      body: JSON.stringify(json ?? text)
        .replace(/"[\w-]{20,}"/g, "*")
        .replace(/\d{4}-[\d-]+T[\d:.]+Z/g, "time"),
    })
  const callPlain = async (path: string, options: Parameters<typeof call>[1] = {}) =>
    addSeen(await call(`/v1/sessions${path}`, { token, ...options }))
  addSeen(await readRecent(id, token))
  const made = await createSession(token, { id, title: "Mine" })
  seen.push({ status: made.status, id: made.json?.id, title: made.json?.title })
  const again = await createSession(token, { id, title: "Other" })
  seen.push({ status: again.status, id: again.json?.id })
  const connection = await openSocket(id, token)
  connection.socket.send('{"type":"send","id":"q","content":"/say hi"}')
  await expect.poll(async () => (await readRecent(id, token)).json.messages[1]?.status).toBe("completed")
  const { messages } = (await readRecent(id, token)).json
  seen.push(messages.map(({ content }: { content: string }) => content))
  const stored = await postFile(id, token, png(1), { name: "cat.png" })
  seen.push(stored.status)
  const url = `/media/${stored.json.id}`
  const body = JSON.stringify({ urls: [url] })
  const signed = await call(`/v1/sessions/${id}/media/sign`, { method: "POST", token, body })
  const link = signed.json.signed[0].href
  const payload = JSON.parse(atob(link.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")))
  seen.push({ ...payload, sub: "*", exp: 0, user: "*" })
  for (const method of ["GET", "HEAD"]) seen.push((await call(link, { method })).status)
  const headers = { authorization: `Bearer ${token}` }
  const exported = await (await SELF.fetch(`${HOST}/v1/sessions/${id}/events`, { headers })).text()
  seen.push([...exported.matchAll(/"sessionId":"([^"]*)"/g)].map((match) => match[1]))
  const issued = await call(`/v1/sessions/${id}/external-token`, { method: "POST", token })
  const external = { method: "POST", token: issued.json.token, body: '{"text":"outside"}' }
  seen.push((await call(`/external/sessions/${id}/messages`, external)).status)
  await callPlain(`/${id}`, { method: "PATCH", body: '{"title":"New"}' })
  const list = await call("/v1/sessions", { token })
  seen.push(list.json.sessions.map((one: { id: string; title: string }) => ({ id: one.id, title: one.title })))
  await callPlain(`/${id}`, { method: "DELETE" })
  await expect.poll(() => connection.closed).toBe(4404)
  await callPlain(`/${id}/conversation/recent`)
  await callPlain(`/${id}`, { method: "DELETE" })
  seen.push((await call("/v1/sessions", { token })).json.sessions)
  return seen
}

describe("an id that another user of the tenant uses", () => {
  test("[AU17] behaves like an unused one, from the session's creation to its erasure", async () => {
    const [ada, eve, ben] = await Promise.all(["ada", "eve", "ben"].map((user) => tokenOf(T, user)))
    await createSession(String(ada), { id: "same", title: "Ada's" })
    await sendMessage("same", String(ada), "/say secret")
    const viewOfTakenId = await tryOut("same", String(eve))
    const viewOfFreeId = await tryOut("free", String(ben))
    expect(viewOfTakenId).toEqual(JSON.parse(JSON.stringify(viewOfFreeId).replaceAll("free", "same")))
  })

  test("[AU17] another user's actions leave the owner's messages and files untouched", async () => {
    const [ada, eve] = [await tokenOf(T, "ada"), await tokenOf(T, "eve")]
    await createSession(ada, { id: "kept", title: "Ada's" })
    await sendMessage("kept", ada, "/say secret")
    const file = await postFile("kept", ada, png(1))
    await createSession(eve, { id: "kept" })
    await postFile("kept", eve, png(2))
    await call("/v1/sessions/kept", { method: "DELETE", token: eve })
    expect(await listStoredAssets(T, "kept")).toEqual({ bytes: [file.json.id], rows: [`${file.json.id} kept`] })
    expect((await readRecent("kept", ada)).json.messages[0].content).toBe("/say secret")
    expect(await tablesOf(env.SESSION.getByName(`${T}:kept.eve`))).toEqual([])
  })

  test("[AU17] a user's session survives when another user erases theirs with the same id", async () => {
    const [ada, eve] = [await tokenOf(T, "ada"), await tokenOf(T, "eve")]
    await createSession(ada, { id: "both" })
    await createSession(eve, { id: "both" })
    await sendMessage("both", eve, "/say mine")
    await call("/v1/sessions/both", { method: "DELETE", token: ada })
    expect(await readRecent("both", ada)).toEqual(refusal(404, "session_unknown"))
    expect((await createSession(eve, { id: "both" })).status).toBe(201)
    expect((await readRecent("both", eve)).json.messages[0].content).toBe("/say mine")
    await expect.poll(async () => (await readRecent("both", eve)).json.messages[1]?.status).toBe("completed")
    expect((await openSocket("both", eve)).received).toEqual(["hello"])
  })

  test("[AU17] a page of the list ends with a public id, even if its last session has a private key", async () => {
    const pia = await tokenOf(T, "pia")
    const directory = env.DIRECTORY.getByName(`${T}:pia`)
    // All sessions have the same time. The session with the private key is the last entry of the first page.
    for (let n = 0; n < MAX_SESSIONS_LISTED - 1; n++) await directory.addSession(`s${n}`, "", 1_000)
    for (const key of ["page.pia", "page-a", "a"]) await directory.addSession(key, "", 1_000)
    const first = (await call("/v1/sessions", { token: pia })).json
    expect(first.next).toBe("1000.1000.page")
    const second = (await call(`/v1/sessions?after=${first.next}`, { token: pia })).json
    const ids = [...first.sessions, ...second.sessions].map(({ id }: { id: string }) => id)
    expect([ids.length, new Set(ids).size, second.next]).toEqual([MAX_SESSIONS_LISTED + 2, ids.length, null])
    expect(await call("/v1/sessions?after=1000.1000.page.pia", { token: pia })).toEqual(
      refusal(400, "field_invalid", "after"),
    )
  })

  test("[AU17] creating a session caches its key, so the next request doesn't look the key up", async () => {
    const [ada, eve] = [await tokenOf(T, "ada"), { tenant: T, user: "eve", expires: 1e12, token: "t", issued: 0 }]
    await createSession(ada, { id: "new" })
    const { asked, SESSION } = recordAskedSessions()
    for (let n = 0; n < 2; n++) {
      asked.length = 0
      expect(await createOwnSession({ ...env, SESSION }, eve, "new", { title: "", created: 1 })).toEqual({
        ok: true,
        value: "new.eve",
      })
    }
    expect(asked).toEqual([`${T}:new.eve`])
  })

  test("[AU17] no request can address a session by its internal per-user key", async () => {
    const [ada, eve] = [await tokenOf(T, "ada"), await tokenOf(T, "eve")]
    await createSession(ada, { id: "named" })
    await createSession(eve, { id: "named" })
    for (const id of ["named.eve", "named%2Eeve"])
      expect(await readRecent(id, eve)).toEqual(refusal(404, "session_unknown"))
    expect(await createSession(eve, { id: "named.eve" })).toEqual(refusal(400, "field_invalid", "id"))
    expect(keyToPublicId(createPrivateKey("named", "eve"))).toBe("named")
  })
})
