/** cards.test.ts: tests how a tenant's cards are set, which results cue them, and where their templates are served. */

import { describe, expect, test } from "vitest"
import search from "../../shared/card/templates/search.json"
import { HOSTILE_TEMPLATES } from "../shared/card/hostile-corpus.ts"
import type { Role } from "../../worker/platform/rpc/claims.ts"
import { CLAIMS, connect } from "../support/socket.ts"
import { call as request, makeSession, refusal, roleToken } from "./http.ts"
import { answerTo, beginTurn, call, expectSame, freshSession, say, script } from "./session-helpers.ts"
import { downloadArchive, exportTenant, importTenant, ownerToken, registerUser } from "./tenant-transfer.ts"

async function send(tenant: string, method: string, path: string, body?: unknown, role: Role = "admin") {
  const token = await roleToken(tenant, "root", role)
  return await request(path, { method, token, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
}

/** Returns a card for the tool `probe_data`, whose result is `{text}`. */
const note = (title: string) => ({
  for: "probe_data",
  title,
  schema: { type: "object", required: ["text"], properties: { text: { type: "string", maxLength: 40 } } },
  view: [{ id: "root", component: "Text", text: { path: "/text" } }],
  samples: [{ text: "sample" }],
})

/** Calls the tool and places its card. Returns the segments of the answer. */
async function showCard(session: string, id: string, text: string) {
  const client = await connect(session)
  const steps = script([call("probe_data", { text })], [say("Here: <span id='probe_data_1'>so</span>")])
  await beginTurn(client, id, steps, 2)
  await client.untilEnd(id)
  return { client, segments: answerTo(client, id)?.segments ?? [] }
}

describe("the card routes", () => {
  test("[CV9] a card is set, listed, read and removed; its revision is a hash of its template", async () => {
    expect((await send("cv-one", "GET", "/v1/cards")).json).toEqual({ cards: [] })
    const put = await send("cv-one", "PUT", "/v1/cards/hits", search)
    expect(put.json).toEqual({ name: "hits", for: "search", revision: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect((await send("cv-one", "PUT", "/v1/cards/hits", search)).json).toEqual(put.json)
    expect((await send("cv-one", "GET", "/v1/cards")).json).toEqual({ cards: [put.json] })
    expect((await send("cv-one", "GET", "/v1/cards/hits")).json).toEqual({ ...put.json, ...search })
    const changed = await send("cv-one", "PUT", "/v1/cards/hits", { ...search, title: "Hits" })
    expect(changed.json.revision).not.toBe(put.json.revision)
    expect((await send("cv-one", "DELETE", "/v1/cards/hits")).status).toBe(204)
    expect(await send("cv-one", "DELETE", "/v1/cards/hits")).toEqual(refusal(404, "card_unknown"))
    expect(await send("cv-one", "GET", "/v1/cards/hits")).toEqual(refusal(404, "card_unknown"))
    const log = await send("cv-one", "GET", "/v1/audit", undefined, "owner")
    const actions = (log.json.entries as { action: string }[]).map(({ action }) => action)
    expect(actions.filter((action) => action.startsWith("card."))).toEqual([
      "card.removed",
      "card.changed",
      "card.changed",
      "card.changed",
    ])
  })

  test("[CV1] an invalid template is refused with a pointer to the fault, and no card is set", async () => {
    const wrong = { ...search, view: [{ id: "root", component: "Text", text: { path: "/nothing" } }] }
    expect(await send("cv-bad", "PUT", "/v1/cards/hits", wrong)).toMatchObject({
      status: 422,
      json: { code: "card_refused", fields: { pointer: "/view/0/text" } },
    })
    expect(await send("cv-bad", "PUT", "/v1/cards/Hits", search)).toEqual(refusal(400, "field_invalid"))
    expect((await send("cv-bad", "PUT", "/v1/cards/hits?dry_run=1", search)).status).toBe(200)
    expect((await send("cv-bad", "GET", "/v1/cards")).json).toEqual({ cards: [] })
    await send("cv-bad", "PUT", "/v1/cards/hits", search)
    const rival = await send("cv-bad", "PUT", "/v1/cards/other", search)
    expect(rival).toMatchObject({ status: 422, json: { code: "card_refused", fields: { pointer: "/for" } } })
  })

  test("[CV1] hostile templates are refused with a code and a pointer, and are not stored", async () => {
    const token = await roleToken("cv-hostile", "root", "admin")
    for (const [name, template] of HOSTILE_TEMPLATES) {
      const body = JSON.stringify(template)
      const { status, json } = await request("/v1/cards/evil", { method: "PUT", token, body })
      expect([status, json.code], name).toEqual([422, "card_refused"])
      expect(json.fields.pointer, name).toMatch(/^(?:\/|$)/)
    }
    expect((await send("cv-hostile", "GET", "/v1/cards")).json).toEqual({ cards: [] })
  })

  test("[CV9] only administrators may set and list cards", async () => {
    for (const role of ["member", "viewer"] as const) {
      expect(await send("cv-role", "PUT", "/v1/cards/hits", search, role)).toEqual(refusal(403, "scope_denied"))
      expect(await send("cv-role", "GET", "/v1/cards", undefined, role)).toEqual(refusal(403, "scope_denied"))
    }
  })

  test("[CV11] the newest twenty versions of a card are kept, including the current one", async () => {
    const revisions: string[] = []
    for (let i = 0; i < 23; i++) {
      revisions.push((await send("cv-many", "PUT", "/v1/cards/note", note(`Note ${i}`))).json.revision)
    }
    const statusOf = async (n: number) => (await request(`/media/card/cv-many/note@${revisions[n]}.json`)).status
    expect([await statusOf(0), await statusOf(2), await statusOf(3), await statusOf(22)]).toEqual([404, 404, 200, 200])
  })
})

describe("a template", () => {
  test("[CV9] is served to anyone who knows its hash, but only under its own tenant, and can be cached forever", async () => {
    const { revision } = (await send("cv-serve", "PUT", "/v1/cards/hits", search)).json
    const path = `/media/card/cv-serve/hits@${revision}.json`
    const served = await request(path)
    expect(served.json).toEqual({ title: search.title, view: search.view })
    expect(Object.fromEntries(served.headers)).toMatchObject({
      "content-type": "application/json",
      "cache-control": "public, max-age=31536000, immutable",
      "access-control-allow-origin": "*",
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    })
    await send("cv-serve", "DELETE", "/v1/cards/hits")
    expect((await request(path)).status).toBe(200)
    for (const other of [path.replace("cv-serve", "cv-other"), path.replace("hits", "news"), path.replace("@", "@0")])
      expect((await request(other)).status).toBe(404)
  })

  test("[CV9] its URL is signed like a file's", async () => {
    const token = await roleToken("cv-sign", "ada", "member")
    const session = await makeSession(token)
    const url = `/media/card/hits@${"0a".repeat(16)}`
    const body = JSON.stringify({ urls: [url, "/media/card/hits@0"] })
    const signed = await request(`/v1/sessions/${session}/media/sign`, { method: "POST", token, body })
    expect(signed.json.signed).toEqual([
      { url, href: `/media/card/cv-sign/hits@${"0a".repeat(16)}.json` },
      { url: "/media/card/hits@0", href: null },
    ])
  })
})

describe("a result", () => {
  test("[CV10] cues its tool's card at once, and keeps the version of the card that it cued", async () => {
    const id = await freshSession("card")
    const before = await showCard(id, "q0", "no card yet")
    expect(before.segments.map(({ type }) => type)).not.toContain("rich")
    const first = (await send(CLAIMS.tenant, "PUT", "/v1/cards/note", note("First"))).json.revision
    await expect
      .poll(async () => (await showCard(id, crypto.randomUUID(), "one")).segments.at(-1))
      .toMatchObject({ type: "rich", tag: "probe_data_1", payload: { text: "one" }, view: `note@${first}` })
    const second = (await send(CLAIMS.tenant, "PUT", "/v1/cards/note", note("Second"))).json.revision
    await expect
      .poll(async () => (await showCard(id, crypto.randomUUID(), "two")).segments.at(-1))
      .toMatchObject({ view: `note@${second}` })
    const { segments } = await showCard(id, "q9", "x".repeat(41))
    expect(segments.map(({ type }) => type)).not.toContain("rich")
    await before.client.untilEnd("q9")
    const history = JSON.stringify(await expectSame(id, before.client))
    expect(history).toContain(`note@${first}`)
    expect(history).toContain(`note@${second}`)
    expect(history).not.toContain("MUST wrap")
    await send(CLAIMS.tenant, "DELETE", "/v1/cards/note")
  })

  test("[CV12] keeps its card's version through export and import, and appears in a Markdown export as the card's contents", async () => {
    const { revision } = (await send(CLAIMS.tenant, "PUT", "/v1/cards/note", note("My note"))).json
    const id = await freshSession("card-export")
    await expect
      .poll(async () => (await showCard(id, crypto.randomUUID(), "hello")).segments.at(-1))
      .toMatchObject({ view: `note@${revision}` })
    const token = await roleToken(CLAIMS.tenant, CLAIMS.user, "member")
    const file = await request(`/v1/sessions/${id}/events`, { token })
    expect(file.text).toContain(`"card":"probe_data_1 note@${revision}"`)
    const copy = await makeSession(token)
    const headers = { "content-type": "application/jsonl" }
    const imported = await request(`/v1/sessions/${copy}/import`, { method: "POST", token, headers, body: file.text })
    expect(imported.status).toBe(200)
    const history = await request(`/v1/sessions/${copy}/conversation/recent?limit=5`, { token })
    expect(history.text).toContain(`"view":"note@${revision}"`)
    const markdown = await request(`/v1/sessions/${id}/events?format=markdown`, { token })
    expect(markdown.text).toContain("**My note**\n\nhello")
    await send(CLAIMS.tenant, "DELETE", "/v1/cards/note")
  })

  test("[CV11] a tenant's archive contains its cards, including their earlier versions", async () => {
    await registerUser("cv-from", "boss", "owner")
    const old = (await send("cv-from", "PUT", "/v1/cards/note", note("Old"))).json.revision
    const current = (await send("cv-from", "PUT", "/v1/cards/note", note("New"))).json
    const archive = await downloadArchive("cv-from", await exportTenant("cv-from"))
    await registerUser("cv-to", "boss", "owner")
    expect(await importTenant("cv-to", archive)).toMatchObject({ state: "done" })
    expect((await request("/v1/cards", { token: await ownerToken("cv-to") })).json).toEqual({ cards: [current] })
    expect((await request(`/media/card/cv-to/note@${old}.json`)).status).toBe(200)
  })
})
