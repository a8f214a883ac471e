/**
 * provider-state-kill.test.ts: kills a real server between the model's signed thinking and the result of the call that
 * follows it.
 */

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { answerTo, callsIn, clientOf, isEnded, StateClient } from "../state/state-client.ts"
import { startCuecard } from "../support/checked-cuecard.ts"
import { SIGNATURE } from "../support/provider-streams.ts"
import { type Seen, startUpstreams } from "../support/upstreams.ts"

let upstreams: Awaited<ReturnType<typeof startUpstreams>>
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  upstreams = await startUpstreams()
})

afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
  await upstreams?.close()
})

test.each([
  ["anthropic", "claude-opus-4-6", 2],
  ["openai", "gpt-5", 1],
  ["google", "gemini-3-pro", 1],
])("[MO16] %s receives its state byte for byte after a kill", async (provider, model, times) => {
  const persist = await mkdtemp(join(tmpdir(), "cuecard-provider-state-"))
  cleanups.push(() => rm(persist, { recursive: true, force: true }))
  let cuecard = await startCuecard({ persist })
  cleanups.push(() => cuecard.close())
  const port = Number(new URL(cuecard.url).port)
  const root = new StateClient(cuecard, await cuecard.tokenFor({ user: "root", role: "admin" }))
  const ada = await clientOf(cuecard, "ada")
  const base_url = `${upstreams.url}/provider/${provider}.stateful/kill-${provider}`
  await root.send("PUT", "/v1/models/own", { provider, model, base_url, key: "sk-0123456789abcdef" })
  const agent = { description: "", prompt: "Answer.", model: "own", tools: ["rename_conversation"] }
  await root.send("PUT", "/v1/agents/own", agent)
  const { id } = await ada.send<{ id: string }>("POST", "/v1/sessions", { agent: "own" })
  await ada.send("POST", `/v1/sessions/${id}/messages`, { id: "q1", content: "Rename this." })
  const readAnswer = async () =>
    answerTo((await ada.get<HistoryPage>(`/v1/sessions/${id}/conversation/recent?limit=5`)).messages, "q1")
  const isAsked = async () => callsIn(await readAnswer()).some(({ approval }) => approval === "asked")
  await expect.poll(isAsked, { timeout: 20_000 }).toBe(true)
  await cuecard.kill()
  cuecard = await startCuecard({ persist, port })
  await ada.send("PUT", `/v1/sessions/${id}/allowed-tools/rename_conversation`, {})
  await expect.poll(async () => isEnded(await readAnswer()), { timeout: 20_000 }).toBe(true)
  expect((await readAnswer())?.status).toBe("completed")
  const seen = (await (await fetch(`${upstreams.url}/seen/kill-${provider}`)).json()) as Seen[]
  expect(seen).toHaveLength(2)
  const sent = JSON.stringify(seen[1]?.body)
  expect(sent.split(JSON.stringify(SIGNATURE).slice(1, -1)).length - 1).toBe(times)
  expect(JSON.stringify(await readAnswer())).not.toContain("opaque")
})
