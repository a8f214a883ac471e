/**
 * deploy-command.test.ts: tests `npm run deploy -- --stage` and `npm run rollback` as an operator runs them. The real
 * wrangler uploads a real production build to a fake of the platform's API on the loopback interface.
 */

import { execFile } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { findMissingFiles } from "../../scripts/release/page-files.ts"
import { PlatformApi } from "../../scripts/release/platform-api.ts"
import { ACCOUNT, type FakePlatform, startFakePlatform } from "../support/fake-platform.ts"

/**
 * The files that a build reads. They are copied, because a build in this folder would replace the build that other
 * tests use.
 */
const SOURCES = [
  ..."shared worker client widget public scripts".split(" "),
  ..."index.html admin.html share.html embed.html".split(" "),
  ..."wrangler.toml vite.config.ts package.json tsconfig.json tsconfig.base.json".split(" "),
]

let folder = ""
let platform: FakePlatform
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cuecard-deploy-test-"))
  for (const name of SOURCES) cpSync(name, join(folder, name), { recursive: true })
  linkPackages()
  platform = await startFakePlatform("old-version")
  keepFilesOf("old-version")
})
afterAll(async () => {
  await platform.close()
  rmSync(folder, { recursive: true })
})

/**
 * Links the packages into the folder. In that folder, `vite build` reuses the first build, because the sources stay the
 * same.
 */
function linkPackages(): void {
  const [from, to] = [resolve("node_modules"), join(folder, "node_modules")]
  linkAll(from, to, "vite")
  linkAll(join(from, "vite"), join(to, "vite"), "bin")
  mkdirSync(join(to, "vite/bin"))
  const build = pathToFileURL(join(from, "vite/bin/vite.js")).href
  const code = `import { existsSync } from "node:fs"
if (!existsSync("dist/cuecard/wrangler.json")) await import(${JSON.stringify(build)})
`
  writeFileSync(join(to, "vite/bin/vite.js"), code)
}

/** Links everything in a folder into a new folder, except one entry. */
function linkAll(from: string, to: string, except: string): void {
  mkdirSync(to)
  for (const name of readdirSync(from)) if (name !== except) symlinkSync(join(from, name), join(to, name))
}

/** Puts a version's page file and the list of its page files into the bucket, as the version's deploy did. */
function keepFilesOf(version: string): void {
  platform.objects.set("~page/old-12345678.js", "export {}")
  platform.objects.set(`~page/versions/${version}.json`, JSON.stringify(["~page/old-12345678.js"]))
}

interface Outcome {
  readonly code: number
  readonly out: string
  readonly error: string
}

function runScript(script: string, args: readonly string[], vars: Record<string, string> = {}): Promise<Outcome> {
  const env = {
    ...process.env,
    CLOUDFLARE_API_BASE_URL: platform.url,
    CLOUDFLARE_API_TOKEN: "a-token",
    CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
    WRANGLER_HIDE_BANNER: "true",
    CI: "true",
    ...vars,
  }
  return new Promise((done) => {
    execFile(process.execPath, [`scripts/${script}`, ...args], { env, cwd: folder }, (error, out, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), out, error: stderr })
    })
  })
}

testInFull(
  "[DP3] [DP6] builds for production, uploads, and deploys in stages; a rollback restores the earlier version",
  async () => {
    const version = "00000000-0000-4000-8000-000000000001"
    platform.rates = { "old-version": { requests: 900, failed: 0 }, [version]: { requests: 300, failed: 0 } }
    const deployed = await runScript("deploy.ts", ["--stage", "5", "--minutes", "0.01"])
    expect(deployed.error.slice(-500)).not.toContain("error during build")
    expect(deployed).toMatchObject({ code: 0, out: expect.stringContaining(`5 % of the traffic goes to ${version}.`) })
    expect(platform.traffic()).toEqual({ [version]: 100 })
    const [upload] = platform.seen.filter(({ method, path }) => method === "POST" && path.includes("/versions"))
    expect(upload?.body).toContain('"text":"production"')
    expect(upload?.body).not.toContain('"name":"JWT_SECRET"')
    expect(JSON.parse(readFileSync(join(folder, "dist/cuecard/wrangler.json"), "utf8"))).toMatchObject({
      workers_dev: true,
    })

    expect(await runScript("release/rollback.ts", [])).toMatchObject({ code: 0, error: "" })
    expect(platform.traffic()).toEqual({ "old-version": 100 })
    expect((await runScript("release/rollback.ts", ["--list"])).out).toContain(version)
  },
)

testInFull(
  "[DP10] the page's files are stored in the bucket before the version gets traffic; if storing them is refused, nothing is deployed",
  async () => {
    const [from, deployments] = [platform.seen.length, platform.deployments.length]
    platform.rates = {}
    platform.misbehave = ({ path }) => (path.includes("/r2/buckets/") ? { status: 403 } : null)
    const refused = await runScript("deploy.ts", ["--stage", "5", "--minutes", "0.01"])
    expect(refused).toMatchObject({ code: 1, error: expect.stringContaining("Workers R2 Storage: Edit") })
    expect(platform.deployments.length).toBe(deployments)
    platform.misbehave = null
    const version = `00000000-0000-4000-8000-00000000000${platform.deployable.length}`
    platform.rates = { "old-version": { requests: 900, failed: 0 }, [version]: { requests: 300, failed: 0 } }
    expect(await runScript("deploy.ts", ["--stage", "5", "--minutes", "0.01"])).toMatchObject({ code: 0 })
    const seen = platform.seen.slice(from).map(({ method, path }) => `${method} ${path}`)
    const stored = seen.filter((line) => /^PUT .*\/r2\/buckets\/cuecard-media\/objects\//.test(line))
    const files = readdirSync(join(folder, "dist/client/assets"))
    expect(files.length).toBeGreaterThan(10)
    for (const name of files) expect(stored.some((line) => line.endsWith(`~page/${name}`))).toBe(true)
    const firstShare = seen.findLastIndex((line) => line.startsWith("POST") && line.endsWith("/deployments"))
    expect(seen.findLastIndex((line) => line.startsWith("PUT"))).toBeLessThan(firstShare)
    const kept = JSON.parse(platform.objects.get(`~page/versions/${version}.json`) ?? "")
    expect(new Set(kept)).toEqual(new Set(files.map((name) => `~page/${name}`)))
    await runScript("release/rollback.ts", [])
  },
)

test("[DP12] a staged deploy is refused before anything is stored if page files of the running version are not in the bucket", async () => {
  const [from, deployments] = [platform.seen.length, platform.deployments.length]
  const settings = { baseUrl: platform.url, token: "a-token", account: ACCOUNT, script: "cuecard" }
  const findMissing = () => findMissingFiles(new PlatformApi(settings), "cuecard-media", "old-version")
  expect(await findMissing()).toBeNull()
  platform.objects.delete("~page/old-12345678.js")
  expect(await findMissing()).toBe("1 of its 1 page files are missing from the bucket")
  for (const broken of ["", "{}", "[]", '["acme/s1/a1"]', JSON.stringify(Array(501).fill("~page/a-12345678.js"))]) {
    platform.objects.set("~page/versions/old-version.json", broken)
    expect(await findMissing()).toBe("the bucket has no list of its page files")
  }
  platform.objects.clear()
  const refused = await runScript("deploy.ts", ["--stage", "5"])
  expect(refused).toMatchObject({ code: 1, error: expect.stringContaining("no list of its page files") })
  expect(refused.error).toContain("npm run deploy")
  expect(refused.error).not.toContain("    at ")
  expect(platform.deployments.length).toBe(deployments)
  expect(platform.seen.slice(from).filter(({ method }) => method === "PUT" || method === "POST")).toEqual([])
  keepFilesOf("old-version")
})

test("[DP4] a version with a migration is not uploaded", async () => {
  platform.migrationTag = "v2"
  const refused = await runScript("deploy.ts", ["--stage", "5"])
  expect(refused).toMatchObject({ code: 1, error: expect.stringContaining("Deploy it alone") })
  expect(refused.error).not.toContain("    at ")
  platform.migrationTag = "v3"
})

test("[DP3] options and settings that are wrong or missing are refused before anything is built", async () => {
  rmSync(join(folder, "dist"), { recursive: true, force: true })
  for (const [args, vars, text] of [
    [["--stage", "200"], {}, "--stage 5"],
    [["--stage", "5", "--dry-run"], {}, "only --minutes and --requests"],
    [["--stage", "5"], { CLOUDFLARE_API_TOKEN: "" }, "CLOUDFLARE_API_TOKEN"],
  ] as const)
    expect(await runScript("deploy.ts", args, vars)).toMatchObject({ code: 1, error: expect.stringContaining(text) })
  expect(existsSync(join(folder, "dist"))).toBe(false)
})
