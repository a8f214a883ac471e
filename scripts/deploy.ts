/**
 * deploy.ts: makes a production build and deploys it to Cloudflare. Options are passed to `wrangler deploy`, such as `--dry-run`.
 *
 * `--stage 5` gives the new version 5 % of the traffic first, compares how often both versions fail, and continues in steps
 * or rolls back (release/staged-deploy.ts). The bucket in wrangler.toml must exist.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { isJsonObject, parseJson } from "../shared/json.ts"
import { BUILT_CONFIG, buildApp } from "./build-state.ts"
import { findBoundNewClasses } from "./release/migration-commits.ts"
import { findPageBucket, listPageObjects } from "./release/page-files.ts"
import { PlatformApi, PlatformError, readPlatformSettings } from "./release/platform-api.ts"
import { readStagePlan } from "./release/stage-plan.ts"
import { deployInStages, readSoleVersion, type StageOutcome } from "./release/staged-deploy.ts"

const WRANGLER = "node_modules/wrangler/bin/wrangler.js"

/** Exit codes, for scripts: 0 deployed, 1 nothing was changed, 2 rolled back, 3 manual intervention needed. */
const EXIT_CODES: Readonly<Record<StageOutcome["kind"], number>> = {
  deployed: 0,
  unchanged: 1,
  rolled_back: 2,
  left: 3,
  stuck: 3,
}

function runWrangler(args: readonly string[], extraEnv: NodeJS.ProcessEnv = {}): number {
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false", ...extraEnv }
  return spawnSync(process.execPath, [WRANGLER, ...args], { stdio: "inherit", env }).status ?? 1
}

/** Sends all traffic to the new version at once. A version with a migration can only be deployed in this way. */
async function deployAtOnce(options: readonly string[]): Promise<number> {
  buildApp("production")
  if (!options.includes("--dry-run")) {
    await refuseMixedMigration()
    if (!keepPageFiles()) console.error("The page's files were not kept: pages that stay open must be reloaded.")
  }
  const status = runWrangler(["deploy", "--config", BUILT_CONFIG, ...options])
  if (status !== 0) {
    console.error("If the bucket is missing, create it once: npx wrangler r2 bucket create cuecard-media")
  }
  return status
}

/**
 * Throws if code that uses a new class would be deployed together with its migration, because no rollback could go back
 * past both. This check needs a token for the platform's API. For people who sign in with `wrangler login`, only
 * `npm run check` finds the problem.
 */
async function refuseMixedMigration(): Promise<void> {
  if (!process.env["CLOUDFLARE_API_TOKEN"] || !process.env["CLOUDFLARE_ACCOUNT_ID"]) return
  const { name } = readBuilt()
  const api = new PlatformApi(readPlatformSettings(process.env, name))
  const classes = findBoundNewClasses(JSON.parse(readFileSync(BUILT_CONFIG, "utf8")), await api.readMigrationTag())
  if (classes.length > 0)
    throw new PlatformError(
      `This version would apply the migration of ${classes.join(", ")} and use it at once, so it could never be rolled back.
Deploy the commit that adds the migration first, and this one after it.`,
      null,
    )
}

/**
 * Stores the page's scripts and styles in the bucket, where every version finds them. A page of one version can request its
 * files from another version, and an open page can request them later. Returns false if the platform refuses.
 */
function keepPageFiles(): boolean {
  const bucket = findPageBucket(JSON.parse(readFileSync(BUILT_CONFIG, "utf8")))
  if (bucket === null) return false
  const folder = mkdtempSync(join(tmpdir(), "cuecard-page-"))
  const list = join(folder, "files.json")
  try {
    writeFileSync(list, JSON.stringify(listPageObjects()))
    return runWrangler(["r2", "bulk", "put", bucket, "--filename", list, "--remote", "--config", BUILT_CONFIG]) === 0
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Uploads the build as a version without traffic. Returns its id. */
function uploadVersion(): string {
  const folder = mkdtempSync(join(tmpdir(), "cuecard-deploy-"))
  const file = join(folder, "wrangler.jsonl")
  try {
    const args = ["versions", "upload", "--config", BUILT_CONFIG]
    if (runWrangler(args, { WRANGLER_OUTPUT_FILE_PATH: file }) !== 0)
      throw new PlatformError("The version was not uploaded.", null)
    for (const line of readFileSync(file, "utf8").split("\n")) {
      const entry = parseJson(line)
      if (isJsonObject(entry) && entry["type"] === "version-upload" && typeof entry["version_id"] === "string")
        return entry["version_id"]
    }
    throw new PlatformError("wrangler has not reported the version that it uploaded.", null)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The name of the Worker and the tag of the last migration in the build. */
function readBuilt(): { readonly name: string; readonly migrationTag: string | null } {
  const config = JSON.parse(readFileSync(BUILT_CONFIG, "utf8")) as {
    readonly name: string
    readonly migrations?: readonly { readonly tag: string }[]
  }
  return { name: config.name, migrationTag: config.migrations?.at(-1)?.tag ?? null }
}

async function deployStaged(options: Parameters<typeof readStagePlan>[0]): Promise<number> {
  const plan = readStagePlan(options)
  readPlatformSettings(process.env, "")
  buildApp("production")
  const { name, migrationTag } = readBuilt()
  const api = new PlatformApi(readPlatformSettings(process.env, name))
  // Checked before the upload, because wrangler would only report that it is impossible.
  readSoleVersion((await api.listDeployments())[0])
  const applied = await api.readMigrationTag()
  if (applied !== migrationTag)
    throw new PlatformError(
      `The migration ${migrationTag} is not applied (${applied ?? "none"} is). A version with a migration gets all of the
traffic at once and cannot be rolled back. Deploy it alone, before the code that needs it: npm run deploy`,
      null,
    )
  if (!keepPageFiles())
    throw new PlatformError(
      `The page's files were not stored in the bucket, so pages would miss their scripts while the traffic is split. Nothing
was changed. The token needs the permission "Workers R2 Storage: Edit".`,
      null,
    )
  const interrupted = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort())
  const version = uploadVersion()
  const outcome = await deployInStages(api, version, plan, { print: console.log, signal: interrupted.signal })
  console[outcome.kind === "deployed" ? "log" : "error"](outcome.reason)
  return EXIT_CODES[outcome.kind]
}

try {
  const { values, positionals, tokens } = parseArgs({
    options: { stage: { type: "string" }, minutes: { type: "string" }, requests: { type: "string" } },
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const others = tokens.some(
    (token) => token.kind === "option" && !["stage", "minutes", "requests"].includes(token.name),
  )
  if (values["stage"] === undefined) process.exitCode = await deployAtOnce(process.argv.slice(2))
  else if (others || positionals.length > 0)
    throw new PlatformError("With --stage, only --minutes and --requests are options.", null)
  else process.exitCode = await deployStaged(values)
} catch (error) {
  if (!(error instanceof PlatformError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
