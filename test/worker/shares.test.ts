/** shares.test.ts: tests shared copies of conversations, which anybody with the link can read. */

import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test, vi } from "vitest"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { MAX_SESSION_SHARES } from "../../worker/shared-copy/write-copy.ts"
import { HOST, call, makeSession, refusal, roleToken, tablesOf, tokenOf } from "./http.ts"
import { hrefOf, png, postFile } from "./files.ts"

const T = "copies"
const GONE = refusal(404, "share_unknown")

const send = (token: string, id: string, content: string, message: string, attachments: readonly string[] = []) =>
  call(`/v1/sessions/${id}/messages`, {
    method: "POST",
    token,
    body: JSON.stringify({ id: message, content, attachments }),
  })
const readMessages = async (token: string, id: string): Promise<readonly WireMessage[]> =>
  (await call(`/v1/sessions/${id}/conversation/recent`, { token })).json.messages
const untilAnswered = (token: string, id: string, count: number) =>
  expect
    .poll(async () => {
      const messages = await readMessages(token, id)
      return [messages.length, messages.at(-1)?.status]
    })
    .toEqual([count, "completed"])
const share = (token: string, id: string, body: object = {}) =>
  call(`/v1/sessions/${id}/shares`, { method: "POST", token, body: JSON.stringify(body) })
const unshare = (token: string, id: string, copy: string) =>
  call(`/v1/sessions/${id}/shares/${copy}`, { method: "DELETE", token })
const referenceOf = (url: string): string => url.split("/").at(-1) ?? ""
const readCopy = (url: string, page = 1) => call(`/v1/shares/${referenceOf(url)}?page=${page}`)
const listObjects = async (prefix = `${T}/.shares/`) => (await env.MEDIA.list({ prefix })).objects.map(({ key }) => key)
const objectsOf = async (copy: string) => await listObjects(`${T}/.shares/${copy}/`)

/** Creates a session with one question and its answer. */
async function startSession(user: string, text = "/say first answer") {
  const token = await tokenOf(T, user)
  const id = await makeSession(token)
  await send(token, id, text, "q1")
  await untilAnswered(token, id, 2)
  return { token, id }
}

describe("a shared copy", () => {
  test("[SR1] [SR2] is read without a token and does not change with the conversation", async () => {
    const { token, id } = await startSession("sr1")
    const made = await share(token, id)
    expect(made).toMatchObject({
      status: 201,
      json: { id: expect.stringMatching(/^[\w-]{22}$/), title: "/say first answer", expires: null },
    })
    const { url, id: copy } = made.json
    expect(url).toBe(`${HOST}/share/${T}.${copy}`)
    const before = await readCopy(url)
    expect(before).toMatchObject({ status: 200, json: { title: "/say first answer", author: null, next: null } })
    expect(before.json.messages.map(({ content }: WireMessage) => content)).toEqual([
      "/say first answer",
      "first answer",
    ])
    await send(token, id, "/say second answer", "q2")
    await untilAnswered(token, id, 4)
    await call(`/v1/sessions/${id}`, { method: "PATCH", token, body: '{"title":"Renamed"}' })
    expect((await readCopy(url)).text).toBe(before.text)
  })

  test("[SR2] ends at the chosen message, which must have ended and be on the active path", async () => {
    const { token, id } = await startSession("sr2")
    await send(token, id, "/say second answer", "q2")
    await untilAnswered(token, id, 4)
    const [, answer] = await readMessages(token, id)
    const upto = answer?.id ?? ""
    const made = await share(token, id, { upto })
    expect(made.json.upto).toBe(upto)
    expect((await readCopy(made.json.url)).json.messages).toHaveLength(2)
    expect(await share(token, id, { upto: "nobody" })).toEqual(refusal(404, "message_unknown"))
    const empty = await makeSession(token)
    expect(await share(token, empty)).toEqual(refusal(404, "message_unknown"))
    expect(await share(token, id, { expires: Date.now() - 1 })).toEqual(refusal(400, "field_invalid", "expires"))
    expect(await listObjects()).toEqual(expect.arrayContaining([`${T}/.shares/${made.json.id}/manifest`]))
  })

  test("[SR3] that is unknown, deleted or expired looks the same, and wakes no object", async () => {
    const { token, id } = await startSession("sr3")
    const deleted = (await share(token, id)).json
    const expiring = (await share(token, id, { expires: Date.now() + 60_000 })).json
    expect((await unshare(token, id, deleted.id)).status).toBe(204)
    vi.setSystemTime(Date.now() + 61_000)
    const answers = [
      await readCopy(deleted.url),
      await readCopy(expiring.url),
      await readCopy(`${T}.${"x".repeat(22)}`),
      await readCopy(`nobody.${"x".repeat(22)}`),
      await readCopy("nothing"),
      await readCopy("%00"),
    ]
    vi.useRealTimers()
    for (const answer of answers) expect([answer.status, answer.text]).toEqual([404, answers[0]?.text])
    expect(answers[0]).toEqual(GONE)
    expect(await tablesOf(env.TENANT.getByName("nobody"))).toEqual([])
  })

  test("[SR3] of a suspended user cannot be read", async () => {
    const { token, id } = await startSession("sr3s")
    const { url } = (await share(token, id)).json
    const admin = await roleToken(T, "boss", "owner")
    await call("/v1/sessions", { token: admin })
    expect((await call("/v1/users/sr3s/suspend", { method: "POST", token: admin })).status).toBe(200)
    expect(await readCopy(url)).toEqual(GONE)
  })

  test("[SR4] contains what the page shows, and nothing else", async () => {
    const { token, id } = await startSession("sr4", "What's the weather in London?")
    const { url } = (await share(token, id)).json
    const copy = await readCopy(url)
    const [question, answer] = copy.json.messages as WireMessage[]
    const [, shown] = await readMessages(token, id)
    expect(question?.content).toBe("What's the weather in London?")
    expect(answer?.segments).toEqual(shown?.segments)
    expect(answer).toMatchObject({ metrics: null })
    expect(copy.text).not.toMatch(/"(?:trace|version|versions)":|sr4/)
    const headers = ["cache-control", "x-robots-tag", "referrer-policy"].map((name) => copy.headers.get(name))
    expect(headers).toEqual(["private, no-cache", "noindex", "no-referrer"])
    const etag = copy.headers.get("etag") ?? ""
    const again = await call(`/v1/shares/${referenceOf(url)}`, { headers: { "if-none-match": etag } })
    expect([again.status, again.text]).toEqual([304, ""])
    await unshare(token, id, referenceOf(url).split(".").at(-1) ?? "")
    const revalidated = await call(`/v1/shares/${referenceOf(url)}`, { headers: { "if-none-match": etag } })
    expect(revalidated).toEqual(GONE)
  })

  test("[SR4] names the user only if requested", async () => {
    const { token, id } = await startSession("sr4n")
    const { url } = (await share(token, id, { name: true })).json
    expect((await readCopy(url)).json.author).toBe("sr4n")
    expect((await call(`/v1/sessions/${id}/shares`, { token })).json.shares).toMatchObject([{ named: true }])
  })

  test("[SR5] has its own links, which open only its files and end with it", async () => {
    const token = await tokenOf(T, "sr5")
    const id = await makeSession(token)
    const inside = (await postFile(id, token, png(1))).json.id
    await send(token, id, "/say with a file", "q1", [inside])
    await untilAnswered(token, id, 2)
    const { url, id: copy } = (await share(token, id)).json
    const outside = (await postFile(id, token, png(2))).json.id
    const urls = [`/media/${inside}`, `/media/${outside}`, "https://example.com/a.png"]
    const sign = () =>
      call(`/v1/shares/${referenceOf(url)}/media/sign`, { method: "POST", body: JSON.stringify({ urls }) })
    const [signed, other, remote] = (await sign()).json.signed
    expect([other.href, remote.href]).toEqual([null, null])
    const file = await call(signed.href)
    expect([file.status, file.headers.get("cache-control")]).toEqual([200, "private, no-cache"])
    const linkToken = new URL(signed.href, HOST).searchParams.get("token")
    // Neither token may be valid for the other's files.
    expect(await call(`/media/${outside}?token=${linkToken}`)).toEqual(refusal(403, "link_invalid"))
    const own = new URL(await hrefOf(id, token, `/media/${inside}`), HOST).searchParams.get("token")
    const payload = JSON.parse(atob((own ?? "").split(".")[1] ?? ""))
    expect(JSON.parse(atob((linkToken ?? "").split(".")[1] ?? ""))).toEqual({
      tenant: T,
      session: copy,
      aud: "share-media",
      sub: inside,
      exp: expect.any(Number),
    })
    expect(payload.aud).toBe("media")
    await unshare(token, id, copy)
    expect(await call(signed.href)).toEqual(refusal(403, "link_invalid"))
    expect(await sign()).toEqual(GONE)
    expect((await call(await hrefOf(id, token, `/media/${inside}`))).status).toBe(200)
  })

  test("[SR6] is listed and deleted only by its owner", async () => {
    const { token, id } = await startSession("sr6")
    const first = (await share(token, id)).json
    const second = (await share(token, id)).json
    const list = await call("/v1/shares", { token })
    expect(list.json.shares.map(({ id: copy }: { id: string }) => copy).sort()).toEqual([first.id, second.id].sort())
    expect(list.json.shares[0]).toMatchObject({ session: id, url: expect.stringContaining("/share/") })
    const eve = await tokenOf(T, "eve")
    for (const answer of [
      await share(eve, id),
      await unshare(eve, id, first.id),
      await call(`/v1/sessions/${id}/shares`, { token: eve }),
    ])
      expect(answer).toEqual(refusal(404, "session_unknown"))
    expect((await call("/v1/shares", { token: eve })).json.shares).toEqual([])
    const reader = await roleToken(T, "sr6", "viewer")
    expect(await share(reader, id)).toEqual(refusal(403, "scope_denied"))
    expect((await unshare(token, id, first.id)).status).toBe(204)
    expect((await unshare(token, id, first.id)).status).toBe(204)
    expect(await objectsOf(first.id)).toEqual([])
    expect((await call(`/v1/sessions/${id}/shares`, { token })).json.shares).toMatchObject([{ id: second.id }])
  })

  test("[SR7] is refused if the session already has MAX_SESSION_SHARES", async () => {
    const { token, id } = await startSession("sr7")
    for (let n = 0; n < MAX_SESSION_SHARES; n++) expect((await share(token, id)).status).toBe(201)
    expect(await share(token, id)).toEqual(refusal(409, "share_links_full"))
    expect((await call("/v1/shares", { token })).json.shares).toHaveLength(MAX_SESSION_SHARES)
  })

  test("[SR8] disappears with its session", async () => {
    const { token, id } = await startSession("sr8")
    const { url, id: copy } = (await share(token, id)).json
    expect(await objectsOf(copy)).toHaveLength(2)
    expect((await call(`/v1/sessions/${id}`, { method: "DELETE", token })).status).toBe(204)
    expect(await objectsOf(copy)).toEqual([])
    expect(await readCopy(url)).toEqual(GONE)
    expect((await call("/v1/shares", { token })).json.shares).toEqual([])
  })

  test("[SR8] is deleted by the alarm once it has expired, or if writing it was interrupted", async () => {
    const { token, id } = await startSession("sr8e")
    const { id: copy } = (await share(token, id, { expires: Date.now() + 1_000 })).json
    const stub = env.SESSION.getByName(`${T}:${id}`)
    await env.MEDIA.put(`${T}/.shares/half/1`, "[]")
    await runInDurableObject(stub, (_object, { storage }) => {
      storage.sql.exec("INSERT INTO share VALUES ('half', 'q1', '', 0, 0, 1, 0)")
      storage.sql.exec("UPDATE share SET expires = 1 WHERE id = ?", copy)
    })
    await runDurableObjectAlarm(stub)
    await expect.poll(async () => [...(await objectsOf(copy)), ...(await objectsOf("half"))]).toEqual([])
    expect((await call(`/v1/sessions/${id}/shares`, { token })).json.shares).toEqual([])
  })
})
