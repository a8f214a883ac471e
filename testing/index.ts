/**
 * index.ts: `cuecard/testing`: a whole running Cuecard for anybody's CI: the built Worker, its objects and its page.
 *
 * Real workerd, real SQLite, no network, no account; a model that says what the test tells it to. Needs Node ≥ 22.
 */

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SignJWT } from "jose"
import type { ModelEvent } from "../worker/model/model-adapter.ts"
import { type Build, readBuild } from "./built-worker.ts"
import { type Runtime, startRuntime } from "./workerd-runtime.ts"

export type { ModelEvent }

export interface CuecardOptions {
  /** What the model says: the n-th list is the n-th model call of a turn. Without it the scripted model answers. */
  readonly script?: readonly (readonly ModelEvent[])[]
  /** 0, the default: any free port. */
  readonly port?: number
  /** Folder that keeps the state, as `persist` of an earlier server; without it the state goes with `close`. */
  readonly persist?: string
  /** Variables of the deployment, over those for tests. */
  readonly vars?: Readonly<Record<string, string>>
  /** Gets each line that the Worker writes; without it they are dropped. */
  readonly onLog?: (line: string) => void
}

export interface Identity {
  readonly tenant?: string
  readonly user?: string
  /** Seconds, an hour by default; may be negative, for a token that has run out. */
  readonly expiresIn?: number
  /** What it is good for; `user` by default. */
  readonly scope?: "user" | "external" | "admin"
  /** Of an `external` token: the one session that it is for. */
  readonly session?: string
}

export interface Cuecard {
  /** `http://127.0.0.1:<port>`, without a slash at its end. */
  readonly url: string
  readonly tenant: string
  readonly user: string
  /** Good for a day, for `tenant` and `user`. Also good on other servers of this package, unless `vars` has a secret. */
  readonly token: string
  /** The folder of the state. */
  readonly persist: string
  tokenFor(identity?: Identity): Promise<string>
  createSession(title?: string): Promise<{ readonly id: string }>
  /** Takes a session's object out of memory, as the platform does with an idle one: its sockets stay, what is next wakes it. */
  evict(session: string, tenant?: string): Promise<void>
  /** Process id of workerd. */
  pid(): number
  /** Ends the server and leaves nothing behind but a `persist` that was given. Again has no effect. */
  close(): Promise<void>
  /** Ends the server as a power cut does (SIGKILL). The state stays, for a next server with this one's `persist`, until `close`. */
  kill(): Promise<void>
}

const TENANT = "demo"
const USER = "you"
const DAY_SECONDS = 24 * 60 * 60
const HOUR_SECONDS = 60 * 60

/**
 * Starts a server.
 *
 * Shapes  options → Cuecard, listening on the loopback.
 * Errors  throws where the build is missing or is one for production, naming the command that mends it.
 */
export async function startCuecard(options: CuecardOptions = {}, build: Build = readBuild()): Promise<Cuecard> {
  const vars = buildVars(build, options)
  const tokenFor = (identity: Identity = {}) => signToken(identity, vars["JWT_SECRET"] ?? "")
  const token = await tokenFor({ expiresIn: DAY_SECONDS })
  const persist = options.persist ?? (await mkdtemp(join(tmpdir(), "cuecard-")))
  const removeState = async () => {
    if (options.persist === undefined) await rm(persist, { recursive: true, force: true })
  }
  const { port = 0, onLog = () => {} } = options
  const runtime = await cleanUpOnFailure(startRuntime({ build, vars, persist, port, onLog }), removeState)
  return {
    url: runtime.url,
    tenant: TENANT,
    user: USER,
    token,
    persist,
    tokenFor,
    pid: runtime.pid,
    createSession: (title = "") => createSession(runtime, token, title),
    evict: (session, tenant = TENANT) => runtime.evict(findObjectClass(build, "SESSION"), `${tenant}:${session}`),
    kill: runtime.kill,
    async close() {
      await runtime.close()
      await removeState()
    },
  }
}

function findObjectClass(build: Build, binding: string): string {
  const name = build.objects[binding]
  if (name === undefined) throw new Error(`the build has no binding ${binding}`)
  return name
}

/** A start that fails leaves nothing behind either. */
async function cleanUpOnFailure<T>(started: Promise<T>, removeState: () => Promise<void>): Promise<T> {
  try {
    return await started
  } catch (error) {
    await removeState()
    throw error
  }
}

function buildVars(build: Build, { script, vars }: CuecardOptions): Record<string, string> {
  const model = script === undefined ? {} : { MODEL_SCRIPT: JSON.stringify(script) }
  return { ...build.vars, MODEL: "scripted", SCRIPTED_DELAY_MS: "0", WEATHER_SOURCE: "sample", ...model, ...vars }
}

function signToken(identity: Identity, secret: string) {
  const { tenant = TENANT, user = USER, expiresIn = HOUR_SECONDS, scope, session } = identity
  const issued = Date.now() / 1000
  return (
    new SignJWT({ tenant, ...(scope === undefined ? {} : { scope }), ...(session === undefined ? {} : { session }) })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(user)
      .setJti(crypto.randomUUID())
      // With its fraction: one that is made just after a revocation of all is not taken for an earlier one.
      .setIssuedAt(issued)
      .setExpirationTime(Math.floor(issued) + expiresIn)
      .sign(new TextEncoder().encode(secret))
  )
}

async function createSession({ url }: Runtime, token: string, title: string): Promise<{ readonly id: string }> {
  const response = await fetch(`${url}/v1/sessions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ title }),
  })
  if (!response.ok) throw new Error(`no session: ${response.status} ${await response.text()}`)
  return (await response.json()) as { id: string }
}
