/**
 * tenant-round-trip.test.ts: tests that generated tenants keep their content when they are exported, imported and
 * exported again.
 */

import { env } from "cloudflare:test"
import fc from "fast-check"
import { expect, test } from "vitest"
import { assertPropertyAsync } from "../support/seeded.ts"
import { png, postFile } from "./files.ts"
import { call, makeSession } from "./http.ts"
import { call as asks, fault, say, script, think } from "./session-helpers.ts"
import {
  askQuestion,
  type Archive,
  downloadArchive,
  exportSession,
  exportTenant,
  importTenant,
  roleToken,
} from "./tenant-transfer.ts"

const MESSAGES = {
  weather: "What is the weather in Lima?",
  plain: "/say Hello *there*",
  thinking: script([think("Hm."), say("Yes.")]),
  failed: script([say("Half an"), fault("model_unreachable")]),
  unknown: script([asks("no_such_tool", { a: 1 })], [say("Sorry.")]),
  agent: script([asks("agents_message", { agent: "weather", message: "Rain?" })], [say("ok")]),
} as const

type Step = keyof typeof MESSAGES | "file"

const stepArb = fc.constantFrom<Step>("weather", "plain", "thinking", "failed", "unknown", "agent", "file")
interface GeneratedUser {
  readonly role: "owner" | "admin" | "member"
  readonly name: string | undefined
  readonly sessions: readonly { readonly title: string; readonly steps: readonly Step[] }[]
}

const userArb: fc.Arbitrary<GeneratedUser> = fc.record({
  role: fc.constantFrom<GeneratedUser["role"]>("owner", "admin", "member"),
  name: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }),
  sessions: fc.array(fc.record({ title: fc.string({ maxLength: 20 }), steps: fc.array(stepArb, { maxLength: 3 }) }), {
    maxLength: 2,
  }),
})
const tenantArb = fc.array(userArb, { minLength: 1, maxLength: 2 })

async function fillTenant(tenant: string, users: readonly GeneratedUser[]): Promise<void> {
  for (const [u, { role, name, sessions }] of users.entries()) {
    const token = await roleToken(tenant, `u${u}`, role)
    await env.TENANT.getByName(tenant).registerUser({ id: `u${u}`, name: name?.toWellFormed(), role })
    for (const { title, steps } of sessions) {
      const id = await makeSession(token, title.toWellFormed())
      let attachments: string[] = []
      for (const step of steps) {
        if (step === "file") attachments = [(await postFile(id, token, png(u + 1))).json.id]
        else await askQuestion(id, token, MESSAGES[step], { attachments })
      }
    }
  }
}

/** Returns each user of a tenant, with the user's session list and the exports of these sessions. */
async function readTenant(tenant: string, users: number): Promise<object[]> {
  const read: object[] = []
  for (let u = 0; u < users; u += 1) {
    const token = await roleToken(tenant, `u${u}`, "member")
    const { sessions } = (await call("/v1/sessions", { token })).json
    const lines: string[][] = []
    for (const { id } of sessions) lines.push(await exportSession(id, token))
    read.push({ user: await env.TENANT.getByName(tenant).findUser(`u${u}`), sessions, lines })
  }
  return read
}

/**
 * Returns an archive's counts. Unlike the hashes and the seal, the counts are the same in each export of the same
 * content.
 */
const tallyOf = ({ manifest }: Archive): object => JSON.parse(manifest).tally

/**
 * Time limit of the test, in milliseconds. Each of the 20 full runs waits for two exports and an import, which alarms
 * carry out.
 */
const ALL_RUNS_MS = 300_000

test(
  "[TX5] any tenant is exported, imported and exported again with the same content",
  async () => {
    let count = 0
    await assertPropertyAsync(
      fc.asyncProperty(tenantArb, async (users) => {
        count += 1
        const [from, to] = [`tx-any${count}`, `tx-any${count}-again`]
        await fillTenant(from, users)
        const archive = await downloadArchive(from, await exportTenant(from))
        expect(await importTenant(to, archive)).toMatchObject({ state: "done", skipped: 0 })
        expect(await readTenant(to, users.length)).toEqual(await readTenant(from, users.length))
        expect(tallyOf(await downloadArchive(to, await exportTenant(to)))).toEqual(tallyOf(archive))
      }),
      20,
    )
  },
  ALL_RUNS_MS,
)
