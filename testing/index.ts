/**
 * index.ts: the package entry `cuecard/testing`: starts a complete Cuecard server for the tests of other projects.
 *
 * The server runs the built Worker in real workerd with real SQLite, without a network or an account, and with a
 * scripted model. Needs Node ≥ 22.
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
  /**
   * The model's events: the n-th list is the response to the n-th model call of each turn. By default, the scripted
   * model answers.
   */
  readonly script?: readonly (readonly ModelEvent[])[]
  /** The port. The default, 0, selects a free one. */
  readonly port?: number
  /** Folder for the state, for example `persist` of an earlier server. By default, `close` deletes the state. */
  readonly persist?: string
  /** Deployment variables. They override the defaults for tests. */
  readonly vars?: Readonly<Record<string, string>>
  /** Called with each line that the Worker logs. By default, the lines are discarded. */
  readonly onLog?: (line: string) => void
}

export interface Identity {
  readonly tenant?: string
  readonly user?: string
  /** Lifetime in seconds, an hour by default. A negative value creates an expired token. */
  readonly expiresIn?: number
  /** Scope of the token; `user` by default. */
  readonly scope?: "user" | "external" | "admin"
  /** The session of an `external` token. */
  readonly session?: string
  /** Role of the user in the tenant; `member` by default. */
  readonly role?: "owner" | "admin" | "member" | "viewer"
}

export interface Cuecard {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string
  readonly tenant: string
  readonly user: string
  /**
   * A token for `tenant` and `user`, valid for a day. Other servers of this package also accept it, unless `vars` sets
   * `JWT_SECRET`.
   */
  readonly token: string
  /** Folder of the state. */
  readonly persist: string
  tokenFor(identity?: Identity): Promise<string>
  createSession(title?: string): Promise<{ readonly id: string }>
  /**
   * Removes a session's object from memory, as the platform does with idle objects. Its sockets stay open, and the next
   * event loads it again.
   */
  evict(session: string, tenant?: string): Promise<void>
  /** Process id of workerd. */
  pid(): number
  /** Stops the server and deletes its state, unless `persist` was given. Calling it again has no effect. */
  close(): Promise<void>
  /**
   * Kills the server (SIGKILL), as a power failure would. The state remains until `close`, so that another server can
   * use this one's `persist`.
   */
  kill(): Promise<void>
}

const TENANT = "demo"
const USER = "you"
const DAY_SECONDS = 24 * 60 * 60
const HOUR_SECONDS = 60 * 60

/**
 * Starts a server on the loopback interface. `build` replaces the built Worker; only this repository's tests use it.
 *
 * Errors: throws if the build is missing or is a production build. The message names the command to run.
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

/** Deletes the state if startup fails. */
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
  return {
    ...build.vars,
    MODEL: "scripted",
    SCRIPTED_DELAY_MS: "0",
    WEATHER_SOURCE: "sample",
    AUTO_TITLES: "off",
    ...model,
    ...vars,
  }
}

function signToken(identity: Identity, secret: string) {
  const { tenant = TENANT, user = USER, expiresIn = HOUR_SECONDS, scope, session, role } = identity
  const issued = Date.now() / 1000
  return (
    // JSON omits undefined values.
    new SignJWT({ tenant, scope, session, role })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(user)
      .setJti(crypto.randomUUID())
      // With fractions of a second, so that a token issued just after a revocation does not count as issued before it.
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
  if (!response.ok) throw new Error(`could not create a session: ${response.status} ${await response.text()}`)
  return (await response.json()) as { id: string }
}
