/** auto-titles.test.ts: tests the titles that the model creates for sessions after their first answer. */

import { env, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"
import { cleanTitle, readTitle } from "../../worker/session/titles/auto-title.ts"
import { call, makeSession, roleToken, tokenOf } from "./http.ts"

/**
 * Changes the tenant's setting for titles. The tests' deployment has AUTO_TITLES=off, so the tenant has to turn titles
 * on.
 */
async function switchTitles(tenant: string, titles: boolean | undefined): Promise<void> {
  const token = await roleToken(tenant, "admin", "admin")
  const set = await call("/v1/settings", { method: "PUT", token, body: JSON.stringify({ titles }) })
  expect(set.status).toBe(200)
}

const ask = (token: string, id: string, content: string, message = "q1") =>
  call(`/v1/sessions/${id}/messages`, { method: "POST", token, body: JSON.stringify({ id: message, content }) })
const titleOf = async (token: string, id: string): Promise<string | undefined> =>
  (await call("/v1/sessions", { token })).json.sessions.find((one: { id: string }) => one.id === id)?.title
const untilAnswered = (token: string, id: string, count = 2) =>
  expect
    .poll(async () => {
      const { messages } = (await call(`/v1/sessions/${id}/conversation/recent`, { token })).json
      return [messages.length, messages.at(-1)?.status]
    })
    .toEqual([count, "completed"])
const sourceOf = (tenant: string, id: string) =>
  runInDurableObject(
    env.SESSION.getByName(`${tenant}:${id}`),
    (_object, { storage }) => storage.sql.exec("SELECT title_source FROM session").one()["title_source"],
  )

const QUESTION = "What's the weather in London?"

describe("a session's title", () => {
  test("[OG20] [OG21] is requested from the model once, after the first answer, and the call is metered", async () => {
    await switchTitles("titles-on", true)
    const token = await tokenOf("titles-on", "ada")
    const id = await makeSession(token)
    await ask(token, id, QUESTION)
    await expect.poll(() => titleOf(token, id)).toBe("Weather in London")
    expect(await sourceOf("titles-on", id)).toBe("model")
    await ask(token, id, "/say again", "q2")
    await untilAnswered(token, id, 4)
    expect(await titleOf(token, id)).toBe("Weather in London")
    // There are two calls for the first answer, one for the title, and one for the second answer.
    const admin = await roleToken("titles-on", "admin", "admin")
    const today = new Date().toISOString().slice(0, 10)
    const usage = () => call(`/v1/usage?from=${today}&to=${today}`, { token: admin })
    await expect.poll(async () => (await usage()).json.total.calls).toBe(4)
  })

  test.each([
    ["follows the schema", "titled", "Rain today", 2],
    ["refuses the schema", "schema-refused", "Plain words", 3],
    ["ignores the schema", "ok", "Hello, world", 2],
  ])("[OG20] [OG22] is requested as JSON from a model that %s", async (_what, scenario, title, calls) => {
    const tenant = `titles-${scenario}`
    await switchTitles(tenant, true)
    const owner = await roleToken(tenant, "admin", "owner")
    const put = (path: string, body: object) => call(path, { method: "PUT", token: owner, body: JSON.stringify(body) })
    const base_url = `${upstreamUrl(env)}/model/${scenario}/${tenant}`
    await put("/v1/models/own", { provider: "openai-compatible", model: "m", base_url })
    await put("/v1/agents/own", { description: "", prompt: "Answer.", model: "own" })
    const token = await tokenOf(tenant, "ada")
    const made = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ agent: "own" }) })
    await ask(token, made.json.id, QUESTION)
    await expect.poll(() => titleOf(token, made.json.id)).toBe(title)
    const asked = (await readUpstream(env, tenant)).map(({ body }) => Object(body).response_format?.type)
    expect(asked).toEqual([undefined, "json_schema", undefined].slice(0, calls))
  })

  test.each([
    ['{"title":"Rain in Rome."}', "Rain in Rome"],
    ['{"title":7}', ""],
    ['{"name":"Rain"}', ""],
    ['{"title":"Rain in', ""],
    ["[1]", "[1]"],
    ["Rain in Rome", "Rain in Rome"],
  ])("[OG22] the output %j gives the title %j", (output, title) => {
    expect(readTitle(output)).toBe(title)
  })

  test("[OG20] isn't replaced if it was set at creation or if the user has renamed the session", async () => {
    await switchTitles("titles-kept", true)
    const token = await tokenOf("titles-kept", "ada")
    const named = await makeSession(token, "My title")
    await ask(token, named, QUESTION)
    await untilAnswered(token, named)
    const renamed = await makeSession(token)
    await call(`/v1/sessions/${renamed}`, { method: "PATCH", token, body: '{"title":"Mine"}' })
    await ask(token, renamed, QUESTION)
    await untilAnswered(token, renamed)
    // A third session shows that titles are being created.
    const other = await makeSession(token)
    await ask(token, other, QUESTION)
    await expect.poll(() => titleOf(token, other)).toBe("Weather in London")
    expect([await titleOf(token, named), await titleOf(token, renamed)]).toEqual(["My title", "Mine"])
  })

  test("[OG20] remains the first words of the question if the answer fails, and in temporary sessions", async () => {
    await switchTitles("titles-words", true)
    const token = await tokenOf("titles-words", "ada")
    const failing = await makeSession(token)
    await ask(token, failing, "/fault model_unreachable")
    await expect.poll(() => sourceOf("titles-words", failing)).toBe("words")
    const body = '{"temporary":true}'
    const temporary = (await call("/v1/sessions", { method: "POST", token, body })).json.id
    await ask(token, temporary, QUESTION)
    await untilAnswered(token, temporary)
    expect(await sourceOf("titles-words", temporary)).toBe("words")
    expect(await titleOf(token, failing)).toBe("/fault model_unreachable")
  })

  test("[OG21] isn't requested again after a restart", async () => {
    await switchTitles("titles-kill", true)
    const token = await tokenOf("titles-kill", "ada")
    const id = await makeSession(token)
    await ask(token, id, QUESTION)
    await expect.poll(() => sourceOf("titles-kill", id)).toBe("model")
    // Recreate the state that is left if the process is killed during the call.
    await runInDurableObject(env.SESSION.getByName(`titles-kill:${id}`), (_object, { storage }) => {
      storage.sql.exec("UPDATE session SET title = 'What''s the weather', title_source = 'asked'")
    })
    await ask(token, id, "/say more", "q2")
    await untilAnswered(token, id, 4)
    expect(await sourceOf("titles-kill", id)).toBe("asked")
  })

  test("[OG23] remains the first words of the question while the setting is off, and the API returns the setting", async () => {
    const token = await tokenOf("titles-off", "ada")
    const id = await makeSession(token)
    await ask(token, id, QUESTION)
    await untilAnswered(token, id)
    expect(await titleOf(token, id)).toBe(QUESTION)
    expect(await sourceOf("titles-off", id)).toBe("words")
    await switchTitles("titles-off", false)
    expect((await call("/v1/settings", { token })).json.titles).toBe(false)
    await switchTitles("titles-off", undefined)
    expect((await call("/v1/settings", { token })).json).not.toHaveProperty("titles")
  })

  test.each([
    ["Weather in London", "Weather in London"],
    ['"Weather in London."', "Weather in London"],
    ["Title: **Weather** in London\n\nI hope this helps", "Weather in London"],
    ["\n# Regen in Bergen", "Regen in Bergen"],
    ["「東京の天気」", "東京の天気"],
    ["<b>Plans</b>", "Plans"],
    ["Is it safe?", "Is it safe?"],
    ["x".repeat(200), ""],
    ["", ""],
  ])("[OG22] %j becomes %j", (output, title) => {
    expect(cleanTitle(output)).toBe(title)
  })
})
