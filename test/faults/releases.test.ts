/**
 * releases.test.ts: tests that an earlier version and this version can alternately serve the same storage, as during a
 * staged deploy and after a rollback. Each kill deploys the other version.
 */

import { afterEach, describe, expect, test } from "vitest"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { readBuild } from "../../testing/built-worker.ts"
import { answerTo, isEnded, StateClient } from "../state/state-client.ts"
import { buildRelease, lacksCommit, RELEASED, SAME_CALLS } from "../support/release-build.ts"
import { findLeak, takeLeaks } from "../support/log-check.ts"
import { IS_FULL, testInFull } from "../support/seeded.ts"
import { createChance } from "./chance.ts"
import { leaveOutFields } from "./compared-message.ts"
import { planRun } from "./plan.ts"
import { runPlan } from "./run.ts"
import { startServer, type TestServer } from "./server.ts"
import { findMixedUsageFaults, findUsageFaults, readUsageSums } from "./usage-rows.ts"

/**
 * Fields that are not compared. Whether a turn has a trace id depends on the version: a turn that 0.1.0 stored has
 * none, and neither has a turn that 0.1.0 reads.
 */
const LATER_FIELDS = ["trace"]
leaveOutFields(LATER_FIELDS)

const SESSIONS = ["one", "two", "three"]
const MESSAGES = IS_FULL ? 24 : 10
const PLANS = 4

const CONTENTS = [
  "/say Plain text, and **some** Markdown.",
  "What's the weather in London and in Tokyo?",
  "/think Considering it.",
  "Draw a chart of apples 3, pears 5",
  "/fault model_cut_off",
  "Make a clock canvas",
  "Ask the researcher about the weather in Oslo and Lima",
  "/bench deltas=200 chars=6 tools=1 delay_ms=1",
]

/**
 * Log lines of the earlier version in which the field `message` or `fault` is a sentence. In the current version, only
 * `error` may contain one.
 */
const EARLIER_ERRORS = /^\{"event":"(?:model_retry","fault"|(?:route|turn|tool|frame|external)_error",.*"message")/

/** Returns the leaks found in log lines, except those that are due to the earlier version's field names. */
function takeOtherLeaks(): string[] {
  return takeLeaks().filter((leak) => {
    const line = leak.slice(leak.indexOf("{"))
    return !EARLIER_ERRORS.test(line) || findLeak(line.replace(/"(?:fault|message)":/, '"error":')) !== null
  })
}

let server: TestServer | null = null
afterEach(async () => {
  await server?.stop()
  await server?.remove()
  server = null
})

/** Retries a request while the server is being replaced. */
async function retryUntilDone<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (tries > 40) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/**
 * Returns all messages of a session, without the fields in LATER_FIELDS and the fields that are always null in 0.1.0.
 */
async function readHistory(client: StateClient, session: string): Promise<WireMessage[]> {
  const messages: WireMessage[] = []
  for (let before = ""; ; ) {
    const text = await client.text(`/v1/sessions/${session}/conversation/recent?limit=50${before}`)
    const isCompared = (key: string): boolean => key !== "topic" && !LATER_FIELDS.includes(key)
    const page = JSON.parse(text, (key, value) => (isCompared(key) ? value : undefined)) as HistoryPage
    messages.unshift(...page.messages)
    if (page.cursor === undefined) return messages
    before = `&before=${page.cursor}`
  }
}

const readAll = async (client: StateClient) =>
  Object.fromEntries(await Promise.all(SESSIONS.map(async (id) => [id, await readHistory(client, id)] as const)))

describe.skipIf(lacksCommit(RELEASED))("version 0.1.0 alternating with this version", () => {
  test("[DP8] [FS1] no message is lost or duplicated, every turn ends, and both versions show the same messages", async () => {
    server = await startServer({ SCRIPTED_DELAY_MS: "1" }, [buildRelease(RELEASED), readBuild()])
    const { url, token, crash } = server
    const client = new StateClient({ url: url() }, token())
    const chance = createChance(14)
    for (const id of SESSIONS) await client.createSession(id)
    const sent: { session: string; id: string }[] = []
    for (let n = 0; n < MESSAGES; n += 1) {
      const [session, id, content] = [chance.pick(SESSIONS), `m${n}`, chance.pick(CONTENTS)]
      const path = `/v1/sessions/${session}/messages`
      const sending = retryUntilDone(() => client.send("POST", path, { id, content }))
      if (chance.odds(0.5)) {
        await new Promise((resolve) => setTimeout(resolve, chance.int(120)))
        await crash()
      }
      await sending
      sent.push({ session, id })
    }
    for (const { session, id } of sent)
      await retryUntilDone(() => client.until(session, (all) => isEnded(answerTo(all, id))))
    const shown = await readAll(client)
    for (const session of SESSIONS) {
      const asked = (shown[session] ?? []).flatMap(({ role, id }) => (role === "user" ? [id] : []))
      expect(asked).toEqual(sent.flatMap((one) => (one.session === session ? [one.id] : [])))
    }
    // Deploy the other version, and then the first one again.
    for (let turn = 0; turn < 2; turn += 1) {
      await crash()
      expect(await readAll(client)).toEqual(shown)
    }
  })
})

describe.skipIf(lacksCommit(SAME_CALLS))("the last version without stored usage, alternating with this version", () => {
  testInFull.each(Array.from({ length: PLANS }, (_, n) => 400 + n))(
    "[DP8] [FS1] [FS8] the faults of seed %i, with a deploy at each kill, cause no violation",
    async (seed) => {
      const builds = [readBuild(), buildRelease(SAME_CALLS)]
      const { faults, violations } = await runPlan(planRun(seed, { sessions: 4, turns: 5 }), {}, undefined, builds)
      expect(violations).toEqual([])
      expect(faults.get("kill") ?? 0).toBeGreaterThan(0)
      expect(takeOtherLeaks()).toEqual([])
    },
  )

  test("[DP8] [MT5] every turn is in a ledger, except those that this version begins and the earlier version ends", async () => {
    server = await startServer({ PROBE_TOOLS: "on" }, [readBuild(), buildRelease(SAME_CALLS)])
    const { url, token, crash, persist } = server
    const client = new StateClient({ url: url() }, token())
    await client.createSession("one")
    const send = (id: string, steps: object[][]) =>
      retryUntilDone(() =>
        client.send("POST", "/v1/sessions/one/messages", { id, content: `/script ${JSON.stringify(steps)}` }),
      )
    const untilStatus = (id: string, ...statuses: string[]) =>
      retryUntilDone(() => client.until("one", (all) => statuses.includes(answerTo(all, id)?.status ?? "")))
    const [text, finish] = [
      { type: "text_delta", delta: "Done." },
      { type: "finish", input_tokens: 9, output_tokens: 2 },
    ]
    await send("asks", [[{ type: "tool_call", name: "probe_ask", args: '{"ms":1}' }, finish], [text]])
    await untilStatus("asks", "waiting")
    await crash()
    await retryUntilDone(() => client.send("POST", "/v1/sessions/one/cancel", { exchange_id: "asks" }))
    await untilStatus("asks", "cancelled")
    await send("earlier", [[text, finish]])
    await untilStatus("earlier", "completed")
    await crash()
    await send("later", [[text, finish]])
    await untilStatus("later", "completed")
    await server.stop()
    const { turns, directories } = readUsageSums(persist)
    expect([turns, directories]).toMatchObject([{ calls: 2 }, { calls: 1, input: 9, output: 2 }])
    expect(findUsageFaults(persist)).toHaveLength(1)
    expect(findMixedUsageFaults(persist)).toEqual([])
  })
})
