/**
 * server.ts: the server under test. It keeps its port and its state folder across kills.
 */

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Build } from "../../testing/built-worker.ts"
import { type Cuecard, startCuecard } from "../support/checked-cuecard.ts"
import { buildMutants } from "./worker-builds.ts"

export interface TestServer {
  readonly persist: string
  url(): string
  port(): number
  token(): string
  /**
   * Kills the process and starts another one on the same state. In between, `inspect` can read the state. A call during
   * a restart joins that restart and returns false.
   */
  crash(inspect?: () => void): Promise<boolean>
  /** Number of kills. */
  kills(): number
  /** Times at which the server was ready again after a kill, in milliseconds since 1970. */
  readonly readyAt: readonly number[]
  /** Evicts an idle session from memory. */
  evict(session: string): Promise<void>
  createSession(): Promise<string>
  /** Returns a token for an owner of the tenant. */
  ownerToken(): Promise<string>
  /** Returns a token that lets an external producer answer in this session. */
  externalToken(session: string): Promise<string>
  /** Stops the server. The state folder is kept until `remove` is called. */
  stop(): Promise<void>
  remove(): Promise<void>
}

const START_TRIES = 5

/**
 * Starts a server. With the variable MUTANT, it runs that mutant instead of the production Worker. With `builds`, each
 * kill acts as a deploy: the next process runs the next build in the list, cyclically.
 */
export async function startServer(
  vars: Readonly<Record<string, string>>,
  builds: readonly Build[] = [],
): Promise<TestServer> {
  const persist = await mkdtemp(join(tmpdir(), "cuecard-faults-"))
  const mutant = vars["MUTANT"] === undefined ? undefined : await buildMutants()
  const nextBuild = (): Build | undefined => builds[kills % builds.length] ?? mutant
  let kills = 0
  let cuecard = await startCuecard({ persist, vars }, nextBuild())
  const port = Number(new URL(cuecard.url).port)
  const readyAt: number[] = []
  let crashing: Promise<void> | null = null
  let evicting: Promise<void> = Promise.resolve()
  const restart = async (inspect: () => void): Promise<void> => {
    // If the server was killed, a pending eviction ends with its own timeout.
    await evicting
    kills += 1
    await cuecard.kill()
    inspect()
    cuecard = await startAgain([{ persist, port, vars }, nextBuild()])
    readyAt.push(Date.now())
  }
  return {
    persist,
    url: () => cuecard.url,
    port: () => port,
    token: () => cuecard.token,
    kills: () => kills,
    readyAt,
    async crash(inspect = () => {}) {
      const isFirst = crashing === null
      crashing ??= restart(inspect).finally(() => {
        crashing = null
      })
      await crashing
      return isFirst
    },
    async evict(session) {
      await crashing
      const evicted = cuecard.evict(session)
      evicting = Promise.allSettled([evicting, evicted]).then(() => {})
      return evicted
    },
    async createSession() {
      return (await cuecard.createSession()).id
    },
    ownerToken: () => cuecard.tokenFor({ user: "boss", role: "owner" }),
    externalToken: (session) => cuecard.tokenFor({ scope: "external", session }),
    async stop() {
      await crashing
      await cuecard.kill()
    },
    remove: () => rm(persist, { recursive: true, force: true }),
  }
}

/** Starts the next process. Retries, because the port may still be in use for a moment. */
async function startAgain(options: Parameters<typeof startCuecard>, tries = START_TRIES): Promise<Cuecard> {
  try {
    return await startCuecard(...options)
  } catch (error) {
    if (tries <= 1) throw error
    await new Promise((resolve) => setTimeout(resolve, 50))
    return startAgain(options, tries - 1)
  }
}
