/**
 * index.ts: `cuecard/testing`: a whole running Cuecard for anybody's CI: the built Worker, its objects and its page.
 *
 * Real workerd, real SQLite, no network, no account; a model that says what the test tells it to. Needs Node ≥ 22.
 */

import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { SignJWT } from "jose"
import { convertV4MiniflareOptions, Miniflare } from "miniflare"
import type { ModelEvent } from "../worker/model/adapter.ts"
import { workerdBelow } from "./process.ts"

export type { ModelEvent }

export interface CuecardOptions {
  /** What the model says: the n-th list is the n-th model call of a turn. Without it the scripted model answers. */
  readonly script?: readonly (readonly ModelEvent[])[]
  /** 0, the default: any free port. */
  readonly port?: number
  /** Folder that keeps the state; without it the state goes with `close`. */
  readonly persist?: string
  /** Variables of the deployment, over those for tests. */
  readonly vars?: Readonly<Record<string, string>>
  /** Gets each line that the Worker writes; without it they are dropped. */
  readonly onLog?: (line: string) => void
}

export interface Identity {
  readonly tenant?: string
  readonly user?: string
  /** Seconds; may be negative, for a token that has run out. */
  readonly expiresIn?: number
}

export interface Cuecard {
  /** `http://127.0.0.1:<port>`, without a slash at its end. */
  readonly url: string
  readonly tenant: string
  readonly user: string
  /** Good for a day, for `tenant` and `user`. */
  readonly token: string
  tokenFor(identity: Identity): Promise<string>
  createSession(title?: string): Promise<{ readonly id: string }>
  /** Process id of workerd. */
  pid(): number
  /** Ends the server; nothing is left behind but `persist`. */
  close(): Promise<void>
  /** Ends it as a power cut does (SIGKILL), then cleans up. What was acknowledged is in `persist`. */
  kill(): Promise<void>
}

const SECRET = "cuecard-testing-secret-for-loopback-only"
const TENANT = "demo"
const USER = "you"
const DAY_SECONDS = 24 * 60 * 60

/** The folder that `npm run build` makes: beside this file when installed, one up when run from source. */
const DIST = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../dist/" : "../", import.meta.url))

interface BuiltConfig {
  readonly main: string
  readonly compatibility_date: string
  readonly assets: { readonly run_worker_first: string[] }
}

/**
 * Starts a server.
 *
 * Shapes  options → Cuecard, listening on the loopback.
 * Errors  throws where the build is missing, naming the command that makes it.
 */
export async function startCuecard(options: CuecardOptions = {}): Promise<Cuecard> {
  const config = readConfig()
  const folder = options.persist ?? (await mkdtemp(join(tmpdir(), "cuecard-")))
  const before = new Set(workerdBelow(process.pid))
  const miniflare = new Miniflare(miniflareOptions(config, folder, options))
  const url = (await miniflare.ready).href.replace(/\/$/, "")
  const pid = workerdBelow(process.pid).find((one) => !before.has(one)) ?? 0
  const token = await tokenFor({ expiresIn: DAY_SECONDS })
  const close = async (): Promise<void> => {
    await miniflare.dispose()
    if (options.persist === undefined) await rm(folder, { recursive: true, force: true })
  }
  return {
    ...{ url, tenant: TENANT, user: USER, token, tokenFor, close },
    pid: () => pid,
    createSession: (title = "") => createSession(url, token, title),
    async kill() {
      process.kill(pid, "SIGKILL")
      await close()
    },
  }
}

function readConfig(): BuiltConfig {
  try {
    return JSON.parse(readFileSync(join(DIST, "cuecard/wrangler.json"), "utf8"))
  } catch {
    throw new Error(`cuecard/testing serves the built Worker, and there is none in ${DIST}. Run: npm run build`)
  }
}

function miniflareOptions(config: BuiltConfig, folder: string, options: CuecardOptions) {
  const script = options.script === undefined ? {} : { MODEL_SCRIPT: JSON.stringify(options.script) }
  const converted = convertV4MiniflareOptions({
    name: "cuecard",
    modules: true,
    scriptPath: join(DIST, "cuecard", config.main),
    modulesRoot: join(DIST, "cuecard"),
    compatibilityDate: config.compatibility_date,
    bindings: {
      ...{ ENVIRONMENT: "local", AUTH: "dev", JWT_SECRET: SECRET, WEATHER_SOURCE: "sample", MODEL: "scripted" },
      ...{ SCRIPTED_DELAY_MS: "0", ...script, ...options.vars },
    },
    durableObjects: {
      SESSION: { className: "Session", useSQLite: true },
      DIRECTORY: { className: "Directory", useSQLite: true },
    },
    assets: {
      directory: join(DIST, "client"),
      binding: "ASSETS",
      run_worker_first: config.assets.run_worker_first,
      routerConfig: { has_user_worker: true },
      assetConfig: { not_found_handling: "single-page-application" },
    },
    host: "127.0.0.1",
    port: options.port ?? 0,
    cf: false,
    handleStructuredLogs: ({ message }: { message: string }) => options.onLog?.(message),
  })
  return { ...converted, resourcePersistencePath: folder }
}

function tokenFor({ tenant = TENANT, user = USER, expiresIn = 3_600 }: Identity): Promise<string> {
  return new SignJWT({ tenant })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(user)
    .setExpirationTime(Math.floor(Date.now() / 1000) + expiresIn)
    .sign(new TextEncoder().encode(SECRET))
}

async function createSession(url: string, token: string, title: string): Promise<{ readonly id: string }> {
  const response = await fetch(`${url}/v1/sessions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ title }),
  })
  if (!response.ok) throw new Error(`no session: ${response.status} ${await response.text()}`)
  return (await response.json()) as { id: string }
}
