/**
 * provider-state.test.ts: tests that the state that a provider needs back with the next step is returned byte for byte,
 * even after a restart, and appears nowhere else.
 */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { SIGNATURE } from "../support/provider-streams.ts"
import { connect } from "../support/socket.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"
import { call, roleToken } from "./http.ts"
import { toolsIn } from "./session-helpers.ts"
import { exportSession } from "./tenant-transfer.ts"

let count = 0

/** Asks an agent whose model needs its state back, and waits until the call needs approval. */
async function askUpToApproval(provider: string, model: string) {
  count += 1
  const tenant = `state${count}`
  const owner = await roleToken(tenant, "boss", "owner")
  const put = async (path: string, body: object) =>
    expect((await call(path, { method: "PUT", token: owner, body: JSON.stringify(body) })).status).toBe(200)
  const base_url = `${upstreamUrl(env)}/provider/${provider}.stateful/${tenant}`
  await put("/v1/models/own", { provider, model, base_url, key: "sk-0123456789abcdef" })
  await put("/v1/agents/own", { description: "", prompt: "Answer.", model: "own", tools: ["rename_conversation"] })
  const token = await roleToken(tenant, "ada", "member")
  const made = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ agent: "own" }) })
  const id: string = made.json.id
  const claims = { tenant, user: "ada", expires: 4_000_000_000, token: null, issued: 0 }
  const client = await connect(id, claims)
  client.say({ type: "send", id: "q1", content: "Rename this." })
  await client.untilTrue(() => findCall([...client.messages.values()]) !== undefined)
  const stub = env.SESSION.getByName(`${tenant}:${id}`)
  const readRows = () =>
    runInDurableObject(stub, (_object, { storage }) => storage.sql.exec("SELECT * FROM provider_state").toArray())
  const readAll = async (): Promise<string> => {
    const page = await call(`/v1/sessions/${id}/conversation/recent`, { token })
    return [page.text, client.texts.join(), (await exportSession(id, token)).join()].join()
  }
  return { tenant, client, stub, readRows, readAll, readSeen: () => readUpstream(env, tenant) }
}

const findCall = (messages: readonly WireMessage[]) =>
  messages.flatMap(toolsIn).find(({ approval }) => approval === "asked")

describe.each([
  ["anthropic", "claude-opus-4-6"],
  ["openai", "gpt-5"],
  ["google", "gemini-3-pro"],
])("%s", (provider, model) => {
  test.each(["in the same process", "after a restart"])("[MO16] gets its state back %s", async (when) => {
    const turn = await askUpToApproval(provider, model)
    const { client } = turn
    expect(await turn.readRows()).toHaveLength(1)
    if (when === "after a restart") await evictDurableObject(turn.stub)
    const call_id = findCall([...client.messages.values()])?.call_id ?? ""
    client.say({ type: "approve", call_id, decision: "allow" })
    expect(await client.untilEnd("q1")).toMatchObject({ status: "completed" })
    const seen = await turn.readSeen()
    expect(seen).toHaveLength(2)
    const sent = JSON.stringify(seen[1]?.body)
    expect(sent.split(JSON.stringify(SIGNATURE).slice(1, -1)).length - 1).toBe(provider === "anthropic" ? 2 : 1)
    // The state must not be in any frame, page or export, and must be deleted at the end of the turn.
    expect(await turn.readAll()).not.toContain("opaque")
    expect(await turn.readRows()).toEqual([])
  })
})

test("[MO16] a state that is too large is dropped, and the turn continues", async () => {
  const { StepStates, MAX_STATE_CHARS } = await import("../../worker/turn/continuation/step-states.ts")
  const states = new StepStates({} as never, 1)
  expect(states.add({ step: 1, model: "m", data: "x".repeat(MAX_STATE_CHARS + 1) })).toBe(false)
  expect(states.isPending()).toBe(false)
  expect(states.add({ step: 1, model: "m", data: "x".repeat(MAX_STATE_CHARS) })).toBe(true)
})
