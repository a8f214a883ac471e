/**
 * backup-command.test.ts: tests `npm run backup` and `npm run restore` with real servers, as in a restore drill by
 * an operator who has lost everything.
 */

import { createHash } from "node:crypto"
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { isEnded, StateClient } from "../state/state-client.ts"

const OPERATOR_SECRET = "the operator's secret of the restore drill".replaceAll(" ", "-")
const VARS = { JWT_SECRET: "signs-the-tokens-of-the-restore-drill", OPERATOR_SECRET }

let folder = ""
let cuecard: Cuecard
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cuecard-backup-"))
  cuecard = await startCuecard({ vars: VARS })
})
afterAll(async () => {
  await cuecard.close()
  rmSync(folder, { recursive: true })
})

interface Outcome {
  readonly code: number
  readonly out: string
  readonly error: string
}

function runCommand(script: "backup" | "restore", ...args: string[]): Promise<Outcome> {
  const { CUECARD_KEY: _, ...outer } = process.env
  const env = { ...outer, OPERATOR_SECRET }
  const path = resolve(`scripts/backup/${script}.ts`)
  return new Promise((done) => {
    execFile(process.execPath, [path, ...args, "--url", cuecard.url], { env, cwd: folder }, (error, out, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), out, error: stderr })
    })
  })
}

const userOf = async (tenant: string, user: string): Promise<StateClient> =>
  new StateClient(cuecard, await cuecard.tokenFor({ tenant, user, role: user === "boss" ? "owner" : "member" }))

const backupsOf = (tenant: string): string[] => readdirSync(join(folder, "backups", tenant)).sort()

async function createTenant(id: string): Promise<void> {
  const headers = { authorization: `Bearer ${OPERATOR_SECRET}`, "content-type": "application/json" }
  const body = JSON.stringify({ id })
  expect((await fetch(`${cuecard.url}/v1/tenants`, { method: "POST", headers, body })).status).toBe(201)
}

const hashBytes = (bytes: ArrayBuffer): string => createHash("sha256").update(Buffer.from(bytes)).digest("hex")

/**
 * Returns everything that a user sees: the session list, all pages of history, the exports without their seals, and all
 * files.
 */
async function readEverything(user: StateClient): Promise<object> {
  const { sessions } = await user.get<{ sessions: readonly { id: string; title: string; created: number }[] }>(
    "/v1/sessions",
  )
  const parts = await Promise.all(
    sessions.map(async ({ id, title, created }) => {
      const history = await user.text(`/v1/sessions/${id}/conversation/recent?limit=120`)
      const lines = (await user.text(`/v1/sessions/${id}/events`)).trimEnd().split("\n")
      const urls = [...new Set(Array.from(history.matchAll(/"url":"(\/media\/[\w-]+)"/g), ([, url = ""]) => url))]
      const { signed } = await user.send<{ signed: { href: string }[] }>("POST", `/v1/sessions/${id}/media/sign`, {
        urls,
      })
      const files = await Promise.all(
        signed.map(async ({ href }) => hashBytes(await (await user.request(href)).arrayBuffer())),
      )
      // Ignore trace ids, because they belong to the deployment that was lost.
      const { messages } = JSON.parse(history, (key, value) => (key === "trace" ? undefined : value)) as {
        messages: object[]
      }
      return [id, { title, created, messages, lines: lines.slice(0, -1), files }]
    }),
  )
  return Object.fromEntries(parts) as object
}

describe("a restore drill", () => {
  test("[BK1] [BK2] a tenant is backed up, everything is lost, and a restore on an empty deployment brings it back", async () => {
    await createTenant("acme")
    const boss = await userOf("acme", "boss")
    await boss.createSession("owners")
    const ada = await userOf("acme", "ada")
    await ada.createSession("cards", "Rain or shine")
    expect((await ada.ask("cards", "m1", "What's the weather in London and in Tokyo?")).status).toBe("completed")
    await ada.ask("cards", "m2", "Paint a sunset")
    await ada.ask("cards", "m3", "Ask the researcher about the weather in Oslo and Lima")
    await ada.until("cards", (all) => all.every((message) => message.role === "user" || isEnded(message)))
    const before = await readEverything(ada)
    expect(JSON.stringify(before)).toContain('"type":"rich"')

    const backedUp = await runCommand("backup", "acme")
    expect(backedUp).toMatchObject({ code: 0, out: expect.stringContaining("2 users, 2 conversations") })
    const [name = "", ...more] = backupsOf("acme")
    expect(more).toEqual([])
    expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/)
    // The server must not keep a copy.
    expect(await boss.get("/v1/tenant/exports")).toEqual({ exports: [] })

    await cuecard.close()
    cuecard = await startCuecard({ vars: VARS })
    const restored = await runCommand("restore", "acme", "--create")
    expect(restored).toMatchObject({ code: 0, out: expect.stringContaining("Imported acme into acme: 2 users") })
    expect(restored.out).toMatch(/^ {2}ck_acme_\w+$/m)
    const again = await userOf("acme", "ada")
    expect(await readEverything(again)).toEqual(before)
    expect(await again.ask("cards", "m4", "/say It goes on.")).toMatchObject({ status: "completed" })
    const users = await (await userOf("acme", "boss")).get<{ users: { id: string; role: string }[] }>("/v1/users")
    expect(users.users.map(({ id, role }) => [id, role])).toEqual([
      ["ada", "member"],
      ["boss", "owner"],
    ])
  })

  test("[BK2] a restore refuses a tenant with conversations, a changed backup, and a missing backup", async () => {
    expect(await runCommand("restore", "acme")).toMatchObject({
      code: 1,
      error: expect.stringContaining("(tenant_not_empty)"),
    })
    expect((await runCommand("restore", "other")).error).toContain("no complete backup of other")
    expect((await runCommand("restore", "acme", "--before", "2020-01-01", "--into", "spare")).error).toContain(
      "before 2020-01-01",
    )
    const [name = ""] = backupsOf("acme")
    const part = join(folder, "backups/acme", name, "1.cuecard")
    const bytes = readFileSync(part)
    writeFileSync(part, Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]))
    expect(await runCommand("restore", "acme", "--into", "spare")).toMatchObject({
      code: 1,
      error: expect.stringContaining("lacks 1 parts: 1"),
    })
    writeFileSync(part, bytes)
    expect(await runCommand("restore", "acme", "--into", "spare", "--create")).toMatchObject({ code: 0 })
    for (const id of ["../acme", "a/b", ".."])
      expect((await runCommand("restore", id)).error).toContain("not a tenant id")
  })

  test("[BK1] a backup keeps the newest backups, continues an interrupted one, and never treats a partial one as complete", async () => {
    const parent = join(folder, "backups/acme")
    for (const day of ["2020-01-01", "2021-01-01"]) mkdirSync(join(parent, `${day}T00-00-00Z`))
    // Two backups were interrupted. One has no manifest, and the server no longer has the export of the other.
    const stale = join(parent, "2022-01-01T00-00-00Z.partial")
    mkdirSync(join(parent, "2021-06-01T00-00-00Z.partial"))
    mkdirSync(stale)
    const gone = { format: "cuecard-tenant", id: "gone", tenant: "acme", files: [{ n: 1, bytes: 1, sha256: "0" }] }
    writeFileSync(join(stale, "manifest.json"), JSON.stringify(gone))
    expect(await runCommand("backup", "acme", "--keep", "2")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Deleted 2 older backups"),
    })
    expect(backupsOf("acme").length).toBe(2)
    expect(backupsOf("acme").every((name) => /^2[0-9]{3}-[^.]+Z$/.test(name) && name > "2023")).toBe(true)
    expect(existsSync(join(parent, backupsOf("acme").at(-1) ?? "", "1.cuecard"))).toBe(true)
    for (const args of [[], ["acme", "--keep", "0"], ["acme", "--what"]])
      expect(await runCommand("backup", ...args)).toMatchObject({
        code: 1,
        error: expect.stringContaining("npm run backup -- TENANT"),
      })
  })
})
