/** tenant-command.test.ts: tests scripts/tenant.ts with a real server, as an operator uses it. */

import { execFile } from "node:child_process"
import { cp, mkdtemp, readdir, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Cuecard, startCuecard } from "cuecard/testing"

let cuecard: Cuecard
beforeAll(async () => {
  cuecard = await startCuecard()
})
afterAll(() => cuecard.close())

interface Outcome {
  readonly code: number
  readonly out: string
  readonly error: string
}

function runScript(args: readonly string[], vars: Record<string, string> = {}, cwd = process.cwd()): Promise<Outcome> {
  const { OPERATOR_SECRET: _, CUECARD_KEY: __, ...env } = process.env
  return new Promise((done) => {
    const script = resolve("scripts/tenant.ts")
    execFile(process.execPath, [script, ...args], { env: { ...env, ...vars }, cwd }, (error, out, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), out, error: stderr })
    })
  })
}

const runTenantCommand = (...args: string[]): Promise<Outcome> => runScript([...args, "--url", cuecard.url])

describe("npm run tenant", () => {
  test("[TN9] creates a working token on an empty server, without any settings", async () => {
    const created = await runTenantCommand("create", "acme", "--name", "Acme")
    expect(created).toMatchObject({ code: 0, error: "" })
    const key = /^ {2}(ck_acme_\w+)$/m.exec(created.out)?.[1] ?? ""
    expect(created.out).toContain(`http://acme.localhost:${new URL(cuecard.url).port}`)
    // The command that the output suggests must work as printed.
    const next = /npm run tenant -- (token acme .*)$/m.exec(created.out)?.[1]?.split(" ") ?? []
    const issued = await runScript(next, { CUECARD_KEY: key })
    expect(issued).toMatchObject({ code: 0, error: "" })
    const token = /^ {2}(eyJ\S+)$/m.exec(issued.out)?.[1]
    const response = await fetch(`${cuecard.url}/v1/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    })
    expect(response.status).toBe(201)
  })

  test("[TN9] lists tenants, and creates keys and tokens without an API key", async () => {
    for (const args of [["beta"], ["gamma", "--region", "eu"]])
      expect((await runTenantCommand("create", ...args)).code).toBe(0)
    expect((await runTenantCommand("list")).out.split("\n")).toEqual(expect.arrayContaining(["beta", "eu.gamma"]))
    const key = await runTenantCommand("key", "beta", "--role", "admin", "--role", "member", "--ttl", "3600", "--json")
    expect(JSON.parse(key.out)).toMatchObject({ name: "npm run tenant", roles: ["admin", "member"] })
    for (const args of [["beta"], ["eu.gamma", "--role", "owner"]]) {
      const { token } = JSON.parse((await runTenantCommand("token", ...args, "--user", "ada", "--json")).out)
      const response = await fetch(`${cuecard.url}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } })
      expect(response.status).toBe(200)
    }
  })

  test("[TN9] reports an error in one line", async () => {
    expect((await runTenantCommand("create", "acme-two")).code).toBe(0)
    const cases: [args: string[], vars: Record<string, string>, text: string][] = [
      [["create", "acme-two"], {}, "A tenant with this id exists or has existed. (tenant_taken)"],
      [["create", "Acme"], {}, 'The field "id" is missing or invalid. (field_invalid)'],
      [["list"], { OPERATOR_SECRET: "x" }, "The operator's secret does not match the server's."],
      [["token", "acme-two"], {}, "Whose token? Add --user."],
      [
        ["token", "acme-two", "--user", "ada"],
        { CUECARD_KEY: "ck_other_x" },
        "The key in CUECARD_KEY does not belong to",
      ],
      [["token", "acme-two", "--user", "ada", "--ttl", "1h"], {}, "--ttl is a number of seconds."],
      [["create"], {}, "npm run tenant -- create ID"],
      [["drop", "acme"], {}, "npm run tenant -- create ID"],
      [["create", "a", "b"], {}, "Unexpected: b"],
      [["create", "a", "--what"], {}, "Unknown option"],
    ]
    for (const [args, vars, text] of cases) {
      const outcome = await runScript([...args, "--url", cuecard.url], vars)
      expect(outcome).toMatchObject({ code: 1, out: "", error: expect.stringContaining(text) })
      expect(outcome.error).not.toContain("    at ")
    }
    expect((await runScript(["list", "--url", "http://127.0.0.1:9"])).error).toContain("Is the server running?")
    expect((await runScript(["list", "--url", "nowhere"])).error).toContain("nowhere is not a URL.")
  })

  test("[TN11] exports a tenant into a folder, and imports it into another one; both continue where they were interrupted", async () => {
    const folder = await mkdtemp(join(tmpdir(), "cuecard-archive-"))
    const archive = join(folder, "acme")
    const copy = join(folder, "copy")
    for (const id of ["moving", "moved"]) expect((await runTenantCommand("create", id)).code).toBe(0)
    const { token } = JSON.parse((await runTenantCommand("token", "moving", "--user", "ada", "--json")).out)
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const created = await fetch(`${cuecard.url}/v1/sessions`, { method: "POST", headers, body: '{"title":"Trip"}' })
    const { id: session } = (await created.json()) as { id: string }
    const done = { code: 0, out: expect.stringContaining("1 user, 1 conversation") }
    expect(await runTenantCommand("export", "moving", "--to", archive)).toMatchObject(done)
    expect((await readdir(archive)).sort()).toEqual(["1.cuecard", "manifest.json"])
    // Only missing files must be downloaded.
    expect(await runTenantCommand("export", "moving", "--to", archive)).toMatchObject({ ...done, error: "" })
    await truncate(join(archive, "1.cuecard"), 10)
    expect(await runTenantCommand("export", "moving", "--to", archive)).toMatchObject({
      ...done,
      error: "downloading: part 1 of 1\n",
    })
    // An import was started elsewhere, and is waiting for its parts, which have different names here.
    await cp(archive, copy, { recursive: true })
    await rename(join(copy, "1.cuecard"), join(copy, "x-1 (2).cuecard"))
    const key = JSON.parse((await runTenantCommand("key", "moved", "--role", "owner", "--json")).out).key
    const begun = await fetch(`${cuecard.url}/v1/tenant/import`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: await readFile(join(copy, "manifest.json"), "utf8"),
    })
    expect(begun.status).toBe(202)
    const imported = await runScript(["import", "moved", "--from", copy, "--url", cuecard.url], { CUECARD_KEY: key })
    expect(imported).toMatchObject({ code: 0, out: expect.stringContaining("Imported moving into moved: 1 user") })
    const other = JSON.parse((await runTenantCommand("token", "moved", "--user", "ada", "--json")).out)
    const list = await fetch(`${cuecard.url}/v1/sessions`, { headers: { authorization: `Bearer ${other.token}` } })
    expect(await list.json()).toMatchObject({ sessions: [{ id: session, title: "Trip" }] })
    // The keys that the commands created must have been removed.
    const keys = await fetch(`${cuecard.url}/v1/keys`, { headers: { authorization: `Bearer ${key}` } })
    const names = ((await keys.json()) as { keys: { name: string }[] }).keys.map(({ name }) => name)
    expect(names.filter((name) => /export|import/.test(name))).toEqual([])
    const refused: [args: string[], text: string][] = [
      [["import", "moved", "--from", archive], "(tenant_not_empty)"],
      [["import", "moved"], "Add --from FOLDER."],
      [["import", "moved", "--from", folder], "has no manifest of an archive."],
      [["import", "moved", "--from", join(folder, "nowhere")], "There is no folder"],
      [["export", "moving", "--to", folder], "is not empty."],
      [["export", "moved", "--to", archive], "has an archive of moving."],
    ]
    await rm(join(copy, "x-1 (2).cuecard"))
    refused.push([["import", "moved", "--from", copy], "lacks 1 parts: 1"])
    for (const [args, text] of refused) {
      expect(await runTenantCommand(...args)).toMatchObject({ code: 1, out: "", error: expect.stringContaining(text) })
    }
    await rm(folder, { recursive: true })
  })

  test("[TN11] erases a tenant only if its id is given twice, and can undo that", async () => {
    expect((await runTenantCommand("create", "ending")).code).toBe(0)
    for (const more of [[], ["--confirm", "endin"], ["--confirm", "ending", "--user", "ada"]]) {
      const refused = await runTenantCommand("erase", "ending", ...more)
      expect(refused).toMatchObject({ code: 1, out: "", error: expect.stringContaining("add --confirm") })
    }
    const begun = await runTenantCommand("erase", "ending", "--confirm", "ending")
    expect(begun).toMatchObject({ code: 0, error: "", out: expect.stringContaining("will be erased on") })
    const suggested = /npm run tenant -- (undo ending .*)$/m.exec(begun.out)?.[1]?.split(" ") ?? []
    expect(await runTenantCommand("erase", "ending", "--confirm", "ending", "--json")).toMatchObject({
      out: expect.stringContaining('"status":"leaving"'),
    })
    expect(await runScript(suggested)).toMatchObject({
      code: 0,
      error: "",
      out: expect.stringContaining("ending is kept."),
    })
    expect((await runTenantCommand("receipt", "ending")).error).toContain("(receipt_unknown)")
    expect((await runTenantCommand("erase", "ending", "--user", "nobody", "--confirm", "nobody")).error).toContain(
      "(user_unknown)",
    )
  })

  test("[TN9] sends no secret unencrypted to another machine, and finds the secret of this machine", async () => {
    expect((await runScript(["list", "--url", "http://chat.example.com"])).error).toContain("Use https.")
    const elsewhere = await runScript(["list", "--url", "https://chat.example.com"])
    expect(elsewhere.error).toContain("The operator's secret is missing.")
    const folder = await mkdtemp(join(tmpdir(), "cuecard-tenant-"))
    await symlink(resolve("wrangler.toml"), join(folder, "wrangler.toml"))
    expect((await runScript(["list", "--url", cuecard.url], {}, folder)).code).toBe(0)
    await writeFile(join(folder, ".dev.vars"), 'OPERATOR_SECRET="another-secret-of-this-machine"\n')
    expect((await runScript(["list", "--url", cuecard.url], {}, folder)).error).toContain("does not match")
    await rm(folder, { recursive: true })
  })
})
