/**
 * card-actions.test.ts: tests the buttons and forms of cards. A click must make one call, with arguments from the
 * stored result.
 */

import { env } from "cloudflare:test"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import type { ServerFrame } from "../../shared/protocol/server-frame.ts"
import type { ActionClick } from "../../shared/protocol/cards/card-action.ts"
import { findTenantCard } from "../../worker/tool/cards/tenant-card.ts"
import { CLAIMS, connect, pageOf, type TestClient } from "../support/socket.ts"
import { call as request, roleToken, tokenOf } from "./http.ts"
import { answerTo, call, expectSame, freshSession, say, script, toolsIn } from "./session-helpers.ts"

/** A card for `probe_data`, whose buttons call `probe_effect` and `probe_ask`. */
const ORDER = {
  for: "probe_data",
  title: "Order",
  schema: { type: "object", required: ["text"], properties: { text: { type: "string", maxLength: 40 } } },
  view: [
    { id: "root", component: "Column", children: ["text", "count", "size", "buy", "ask", "more", "gone"] },
    { id: "text", component: "Text", text: { path: "/text" } },
    { id: "count", component: "TextField", variant: "number", name: "count", label: "Count", required: true },
    {
      id: "size",
      component: "ChoicePicker",
      name: "size",
      label: "Size",
      options: [
        { value: "s", label: "Small" },
        { value: "l", label: "Large" },
      ],
    },
    { id: "buy", component: "Button", label: "Buy", action: "buy" },
    { id: "ask", component: "Button", label: "Ask", action: "ask" },
    { id: "more", component: "Button", label: "More", action: "more" },
    { id: "gone", component: "Button", label: "Gone", action: "gone" },
  ],
  actions: {
    buy: {
      tool: "probe_effect",
      args: { key: { path: "/text" }, ms: { value: 0 }, text: { field: "size" }, n: { field: "count" } },
    },
    ask: { tool: "probe_ask", args: { key: { path: "/text" }, n: { field: "count" } } },
    more: { tool: "probe_json", args: { json: { value: "{}" }, n: { field: "count" } }, repeatable: true },
    gone: { tool: "no_such_tool", args: { n: { field: "count" } } },
  },
  samples: [{ text: "sample" }],
}

/** A card for `probe_json`, with a button for each item. */
const ROOM_CARD = {
  for: "probe_json",
  title: "Rooms",
  schema: { type: "object", required: ["rooms"], properties: { rooms: { type: "array" } } },
  view: [
    { id: "root", component: "List", children: { componentId: "pick", path: "/rooms" } },
    { id: "pick", component: "Button", label: { path: "name" }, action: "pick" },
  ],
  actions: { pick: { tool: "probe_effect", args: { key: { path: "name" }, ms: { value: 0 } } } },
  samples: [{ rooms: [{ name: "Sea" }] }],
}

/**
 * Returns the version of the card that would show a new result now. The isolate caches the tenant's cards for a second.
 */
const findCard = (): Promise<string | null> => findTenantCard(env, CLAIMS.tenant, ORDER.for, { text: "any" })
const findRoomCard = (): Promise<string | null> => findTenantCard(env, CLAIMS.tenant, ROOM_CARD.for, { rooms: [] })

const WAIT = { timeout: 20_000 }

beforeAll(async () => {
  const token = await roleToken(CLAIMS.tenant, "root", "admin")
  for (const [name, card] of Object.entries({ order: ORDER, rooms: ROOM_CARD })) {
    const put = await request(`/v1/cards/${name}`, { method: "PUT", token, body: JSON.stringify(card) })
    expect(put.status, put.text).toBe(200)
  }
  await vi.waitFor(async () => expect(await findCard()).toMatch(/^order@/), WAIT)
  await vi.waitFor(async () => expect(await findRoomCard()).toMatch(/^rooms@/), WAIT)
})

// Remove the cards, because other test files in this isolate use the same tools.
afterAll(async () => {
  const token = await roleToken(CLAIMS.tenant, "root", "admin")
  for (const name of ["order", "rooms"])
    expect((await request(`/v1/cards/${name}`, { method: "DELETE", token })).status).toBe(204)
  await vi.waitFor(async () => expect(await findCard()).toBe(null), WAIT)
  await vi.waitFor(async () => expect(await findRoomCard()).toBe(null), WAIT)
})

let cards = 0

/** Shows a result's card in a new session. Returns the session, and the id of the call. */
async function showCard(): Promise<{
  readonly id: string
  readonly client: TestClient
  readonly call_id: string
  readonly key: string
}> {
  const id = await freshSession("act")
  const key = `act${++cards}`
  const client = await connect(id)
  const steps = [[call("probe_data", { text: key })], [say("Here: <span id='probe_data_1'>it is</span>")]]
  client.say({ type: "send", id: "q0", content: script(...steps) })
  const answer = await client.untilEnd("q0")
  expect(answer.segments.at(-1)).toMatchObject({ type: "rich", view: expect.stringMatching(/^order@/) })
  return { id, client, call_id: toolsIn(answer)[0]?.call_id ?? "", key }
}

async function untilRefused(client: TestClient, id: string): Promise<unknown> {
  const isRefusal = (frame: ServerFrame): boolean => frame.type === "error" && frame.id === id
  await client.untilTrue(() => client.frames.some(isRefusal))
  return client.frames.find(isRefusal)
}

function click(client: TestClient, id: string, action: ActionClick, content = ""): void {
  client.say({ type: "send", id, content, action })
}

describe("a click on a list item", () => {
  test("[KA2] [KA3] makes the call for its item, once per item; in an imported copy, a click on a finished item is refused", async () => {
    const id = await freshSession("act")
    const client = await connect(id)
    const names = ["Sea", "Garden"].map((name) => `${name}${++cards}`)
    const json = JSON.stringify({ rooms: names.map((name) => ({ name })) })
    const steps = [[call("probe_json", { json })], [say("Here: <span id='probe_json_1'>they are</span>")]]
    client.say({ type: "send", id: "q0", content: script(...steps) })
    const shown = await client.untilEnd("q0")
    expect(shown.segments.at(-1)).toMatchObject({ type: "rich", view: expect.stringMatching(/^rooms@/) })
    const call_id = toolsIn(shown)[0]?.call_id ?? ""
    for (const [item, name] of names.entries()) {
      click(client, `c${item}`, { call_id, name: "pick", item })
      const [made] = toolsIn(await client.untilEnd(`c${item}`))
      expect(JSON.parse(made?.args ?? "")).toEqual({ key: name, ms: 0 })
      expect(client.messages.get(`c${item}`)).toMatchObject({ content: name, action: { call_id, name: "pick", item } })
    }
    await expectSame(id, client)
    for (const [at, because] of [
      [0, "done"],
      [2, "unknown"],
    ] as const) {
      click(client, `again${at}`, { call_id, name: "pick", item: at })
      expect(await untilRefused(client, `again${at}`)).toMatchObject({ code: "action_refused", fields: { because } })
    }
    const token = await tokenOf(CLAIMS.tenant, CLAIMS.user)
    const body = (await request(`/v1/sessions/${id}/events`, { token })).text
    const copy = await freshSession("act")
    const headers = { "content-type": "application/jsonl" }
    const imported = await request(`/v1/sessions/${copy}/import`, { method: "POST", token, headers, body })
    expect(imported.status, imported.text).toBe(200)
    const other = await connect(copy)
    click(other, "c9", { call_id, name: "pick", item: 1 })
    expect(await untilRefused(other, "c9")).toMatchObject({ code: "action_refused", fields: { because: "done" } })
  })
})

describe("a click", () => {
  test("[KA2] makes the call that the template defines, with values from the stored result and the fields, and is answered", async () => {
    const { id, client, call_id, key } = await showCard()
    click(client, "c1", { call_id, name: "buy", fields: { count: 2, size: "l" } }, "forged words")
    const answer = await client.untilEnd("c1")
    const question = client.messages.get("c1")
    expect(question).toMatchObject({
      mode: "action",
      content: "Buy\nCount: 2\nSize: Large",
      action: { call_id, name: "buy" },
    })
    expect(question?.action).toEqual({ call_id, name: "buy" })
    const [made] = toolsIn(answer)
    expect(made).toMatchObject({ name: "probe_effect", status: "ok" })
    expect(JSON.parse(made?.args ?? "")).toEqual({ key, ms: 0, text: "l", n: 2 })
    // The model answers after the call.
    expect(answer.segments.at(-1)).toMatchObject({ type: "text" })
    await expectSame(id, client)
  })

  test("[KA3] [KA10] has no further effect if it repeats an id; with another id, it is refused once the action has been performed", async () => {
    const { client, call_id } = await showCard()
    const action = { call_id, name: "buy", fields: { count: 1 } }
    click(client, "c1", action)
    click(client, "c1", action)
    click(client, "c2", action)
    await client.untilEnd("c1")
    await untilRefused(client, "c2")
    click(client, "c3", action)
    const refused = await untilRefused(client, "c3")
    expect(refused).toMatchObject({ code: "action_refused", fields: { because: "done" } })
    click(client, "c1", action)
    expect([...client.messages.values()].filter(({ mode }) => mode === "action")).toHaveLength(1)
  })

  test("[KA3] is still recorded as done in an imported copy", async () => {
    const { id, client, call_id } = await showCard()
    const action = { call_id, name: "buy", fields: { count: 1 } }
    click(client, "c1", action)
    await client.untilEnd("c1")
    const token = await tokenOf(CLAIMS.tenant, CLAIMS.user)
    const body = (await request(`/v1/sessions/${id}/events`, { token })).text
    const copy = await freshSession("act")
    const headers = { "content-type": "application/jsonl" }
    const imported = await request(`/v1/sessions/${copy}/import`, { method: "POST", token, headers, body })
    expect(imported.status, imported.text).toBe(200)
    const other = await connect(copy)
    click(other, "c2", action)
    expect(await untilRefused(other, "c2")).toMatchObject({ code: "action_refused", fields: { because: "done" } })
    // Another action of the same card hasn't been performed.
    click(other, "c3", { call_id, name: "more", fields: { count: 1 } })
    expect(toolsIn(await other.untilEnd("c3"))).toMatchObject([{ name: "probe_json" }])
  })

  test("[KA3] can perform a repeatable action again", async () => {
    const { client, call_id } = await showCard()
    for (const id of ["c1", "c2"]) {
      click(client, id, { call_id, name: "more", fields: { count: 1 } })
      expect(toolsIn(await client.untilEnd(id))).toMatchObject([{ name: "probe_json", status: "ok" }])
    }
  })

  test.each([
    ["an unknown action", { name: "steal", fields: { count: 1 } }, "unknown"],
    ["a name inherited from the object prototype", { name: "constructor", fields: { count: 1 } }, "unknown"],
    ["an unknown call", { call_id: "call_9_9", name: "buy", fields: { count: 1 } }, "unknown"],
    ["a missing field", { name: "buy" }, "field"],
    ["a field of another type", { name: "buy", fields: { count: "two" } }, "field"],
    ["a choice that isn't offered", { name: "buy", fields: { count: 1, size: "xl" } }, "field"],
    ["a field that the form doesn't have", { name: "buy", fields: { count: 1, key: "forged" } }, "field"],
    ["a tool that the agent doesn't have", { name: "gone", fields: { count: 1 } }, "tool"],
  ])("[KA9] is refused if it has %s, and nothing is stored", async (_what, action, because) => {
    const { client, call_id } = await showCard()
    click(client, "c1", { call_id, ...action } as ActionClick)
    const refused = await untilRefused(client, "c1")
    expect(refused).toMatchObject({ code: "action_refused", fields: { because } })
    expect(client.messages.has("c1")).toBe(false)
  })

  test("[KA9] is refused if the call has no template card", async () => {
    const id = await freshSession("act")
    const client = await connect(id)
    client.say({ type: "send", id: "q0", content: script([call("probe_json", { json: '{"a":1}' })], [say("Done.")]) })
    const [made] = toolsIn(await client.untilEnd("q0"))
    click(client, "c1", { call_id: made?.call_id ?? "", name: "buy", fields: { count: 1 } })
    const refused = await untilRefused(client, "c1")
    expect(refused).toMatchObject({ code: "action_refused" })
  })

  test("[KA4] is subject to approval rules, and can be repeated if it was denied", async () => {
    const { client, call_id } = await showCard()
    for (const [id, decision, status] of [
      ["c1", "deny", "failed"],
      ["c2", "allow", "ok"],
    ] as const) {
      click(client, id, { call_id, name: "ask", fields: { count: 1 } })
      await client.untilTrue(() => answerTo(client, id)?.status === "waiting")
      const [asked] = toolsIn(answerTo(client, id))
      client.say({ type: "approve", call_id: asked?.call_id ?? "", decision })
      expect(toolsIn(await client.untilEnd(id))[0]?.status).toBe(status)
    }
  })

  test("[KA5] gets an answer that can be regenerated without a second call; the click itself can't be edited", async () => {
    const { id, client, call_id } = await showCard()
    click(client, "c1", { call_id, name: "buy", fields: { count: 1 } })
    const answer = await client.untilEnd("c1")
    client.say({ type: "edit", id: "e1", message: "c1", content: "Something else" })
    expect(await untilRefused(client, "e1")).toMatchObject({ code: "frame_invalid" })
    client.say({ type: "regenerate", id: "r1", message: answer.id })
    await client.untilTrue(() => client.frames.some((frame) => frame.type === "ack" && frame.id === "r1"))
    await expect.poll(async () => (await pageOf(id)).messages.at(-1)?.status).toBe("completed")
    const again = (await pageOf(id)).messages.at(-1)
    expect(again?.version).toBe(2)
    expect(toolsIn(again)).toEqual(toolsIn(answer))
  })

  test("[KA3] [KA10] waits in the queue behind a running answer", async () => {
    const { client, call_id } = await showCard()
    client.say({ type: "send", id: "slow", content: script([call("probe_slow", { ms: 300 })], [say("Done.")]) })
    click(client, "c1", { call_id, name: "buy", fields: { count: 1 } })
    expect(toolsIn(await client.untilEnd("c1"))).toMatchObject([{ name: "probe_effect", status: "ok" }])
    click(client, "c2", { call_id, name: "buy", fields: { count: 1 } })
    expect(await untilRefused(client, "c2")).toMatchObject({
      code: "action_refused",
    })
  })

  test("[KA6] is accepted over HTTP only from the session's owner", async () => {
    const { id, call_id } = await showCard()
    const body = JSON.stringify({ id: "h1", content: "", action: { call_id, name: "more", fields: { count: 1 } } })
    const otherToken = await roleToken(CLAIMS.tenant, "eve", "member")
    expect((await request(`/v1/sessions/${id}/messages`, { method: "POST", token: otherToken, body })).status).toBe(404)
    const owner = await roleToken(CLAIMS.tenant, CLAIMS.user, "member")
    expect((await request(`/v1/sessions/${id}/messages`, { method: "POST", token: owner, body })).status).toBe(202)
  })
})
