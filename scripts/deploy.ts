/**
 * deploy.ts: makes a production build and deploys it to Cloudflare. Options are passed to `wrangler deploy`, such as
 * `--dry-run`.
 *
 * `--stage 5` gives the new version 5 % of the traffic first, compares how often each version fails, and continues in
 * steps or rolls back (release/staged-deploy.ts). The bucket in wrangler.toml must exist.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { isJsonObject, parseJson } from "../shared/json.ts"
import { BUILT_CONFIG, buildApp } from "./build-state.ts"
import { findBoundNewClasses } from "./release/migration-commits.ts"
import {
  createListKey,
  findMissingFiles,
  findPageBucket,
  formatPageList,
  listPageObjects,
  type PageObject,
} from "./release/page-files.ts"
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
  const isDryRun = options.includes("--dry-run")
  if (!isDryRun) {
    await refuseMixedMigration()
    if (!keepPageFiles()) console.error("The page's files were not kept: pages that stay open must be reloaded.")
  }
  const { status, version } = runAndReadVersion(["deploy", "--config", BUILT_CONFIG, ...options], "deploy")
  if (status !== 0) {
    console.error("If the bucket is missing, create it once: npx wrangler r2 bucket create cuecard-media")
  } else if (!isDryRun && (version === null || !keepPageList(version))) {
    console.error("The list of the page's files was not kept: the next deploy with --stage will be refused.")
  }
  return status
}

/**
 * Throws if code that uses a new class would be deployed together with the migration for that class, because such a
 * deploy could not be rolled back. This check needs a token for the platform's API. For people who sign in with
 * `wrangler login`, only `npm run check` finds the problem.
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
 * Stores the page's scripts and styles in the bucket, where every version finds them. A page of one version can request
 * its files from another version, and an open page can request them later. Returns false if the platform refuses.
 */
function keepPageFiles(): boolean {
  return useFolder((folder) => putObjects(folder, listPageObjects()))
}

/**
 * Stores the list of the page's files under the id of the version, so that the next staged deploy can check that they
 * are in the bucket. Returns false if the platform refuses.
 */
function keepPageList(version: string): boolean {
  return useFolder((folder) => {
    const file = join(folder, "page-list.json")
    writeFileSync(file, formatPageList())
    return putObjects(folder, [{ key: createListKey(version), file }])
  })
}

function putObjects(folder: string, objects: readonly PageObject[]): boolean {
  const { bucket } = readBuilt()
  if (bucket === null) return false
  const list = join(folder, "objects.json")
  writeFileSync(list, JSON.stringify(objects))
  return runWrangler(["r2", "bulk", "put", bucket, "--filename", list, "--remote", "--config", BUILT_CONFIG]) === 0
}

/** Uploads the build as a version without traffic. Returns its id. */
function uploadVersion(): string {
  const { status, version } = runAndReadVersion(["versions", "upload", "--config", BUILT_CONFIG], "version-upload")
  if (status !== 0) throw new PlatformError("The version was not uploaded.", null)
  if (version === null) throw new PlatformError("wrangler has not reported the version that it uploaded.", null)
  return version
}

/** Runs wrangler, and reads the id of the version that it reports in an entry of this type; null if it reports none. */
function runAndReadVersion(args: readonly string[], type: string): { status: number; version: string | null } {
  return useFolder((folder) => {
    const file = join(folder, "wrangler.jsonl")
    const status = runWrangler(args, { WRANGLER_OUTPUT_FILE_PATH: file })
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : []
    for (const line of lines) {
      const entry = parseJson(line)
      if (isJsonObject(entry) && entry["type"] === type && typeof entry["version_id"] === "string")
        return { status, version: entry["version_id"] }
    }
    return { status, version: null }
  })
}

/** Runs a function with a new folder, which is removed afterwards. */
function useFolder<T>(run: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "cuecard-deploy-"))
  try {
    return run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the Worker's name, the last migration's tag and the bucket for the page's files, as stated in the build. */
function readBuilt(): { readonly name: string; readonly migrationTag: string | null; readonly bucket: string | null } {
  const config = JSON.parse(readFileSync(BUILT_CONFIG, "utf8")) as {
    readonly name: string
    readonly migrations?: readonly { readonly tag: string }[]
  }
  const migrationTag = config.migrations?.at(-1)?.tag ?? null
  return { name: config.name, migrationTag, bucket: findPageBucket(config) }
}

/**
 * Throws if page files of the running version are missing from the bucket. While the traffic is split, the new version
 * has to serve them.
 */
async function requireKeptFiles(api: PlatformApi, bucket: string | null, version: string): Promise<void> {
  const missing = await findMissing(api, bucket, version)
  if (missing !== null)
    throw new PlatformError(
      `Version ${version} has the traffic, but ${missing}.
So its pages would miss their scripts while the traffic is split. Nothing was changed. Deploy this version in one step with
npm run deploy, or first deploy the running version's commit in that way, which stores its files.`,
      null,
    )
}

async function findMissing(api: PlatformApi, bucket: string | null, version: string): Promise<string | null> {
  if (bucket === null) return "no bucket is bound as MEDIA"
  try {
    return await findMissingFiles(api, bucket, version)
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    throw new PlatformError(`The bucket can't be read: ${error.message}\n${NOT_KEPT}`, error.status)
  }
}

const NOT_KEPT = `The page's files were not stored in the bucket, so pages would miss their scripts while the traffic is split. Nothing
was changed. The token needs the permission "Workers R2 Storage: Edit".`

async function deployStaged(options: Parameters<typeof readStagePlan>[0]): Promise<number> {
  const plan = readStagePlan(options)
  readPlatformSettings(process.env, "")
  buildApp("production")
  const { name, migrationTag, bucket } = readBuilt()
  const api = new PlatformApi(readPlatformSettings(process.env, name))
  // The migration is checked before the upload, because wrangler would only report that a staged deploy is impossible.
  const running = readSoleVersion((await api.listDeployments())[0])
  const applied = await api.readMigrationTag()
  if (applied !== migrationTag)
    throw new PlatformError(
      `The migration ${migrationTag} is not applied (${applied ?? "none"} is). A version with a migration gets all of the
traffic at once and cannot be rolled back. Deploy it alone, before the code that needs it: npm run deploy`,
      null,
    )
  await requireKeptFiles(api, bucket, running)
  if (!keepPageFiles()) throw new PlatformError(NOT_KEPT, null)
  const interrupted = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort())
  const version = uploadVersion()
  if (!keepPageList(version)) throw new PlatformError(NOT_KEPT, null)
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
