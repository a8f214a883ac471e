/**
 * staged-deploy.ts: sends a new version a growing share of the traffic, and compares at each step how often each
 * version fails. The deploy ends with all of the traffic on one of the two.
 *
 * 5 % ▶ watch ▶ 25 % ▶ watch ▶ 50 % ▶ watch ▶ 100 %
 */

import { describeCount, isWorse } from "./error-rates.ts"
import { type Deployment, type PlatformApi, PlatformError, type RequestCount } from "./platform-api.ts"

export interface StagePlan {
  /** The shares of the new version, in percent, rising; the last one is 100. */
  readonly shares: readonly number[]
  /** How long both versions are compared at each share, in milliseconds. */
  readonly watchMs: number
  /** Time between two comparisons, in milliseconds. */
  readonly pollMs: number
  /**
   * A step ends only when the new version has had this many requests. The step is abandoned after MAX_WATCHES times
   * `watchMs`.
   */
  readonly minRequests: number
}

/**
 * `deployed`: all traffic goes to the new version. `rolled_back`: all traffic goes to the old one again. `unchanged`:
 * no deployment was made. `left`: somebody else has deployed, and nothing was changed after that. `stuck`: the traffic
 * is still split, because the platform refuses the change.
 */
export interface StageOutcome {
  readonly kind: "deployed" | "rolled_back" | "unchanged" | "left" | "stuck"
  readonly reason: string
}

/** Maximum time that a step waits for requests, as a multiple of the planned time. */
const MAX_WATCHES = 3
/** Maximum number of consecutive comparisons that may fail. After more failures, the deploy would go unwatched. */
const MAX_BLIND_POLLS = 5
/** Number of attempts for the last request, which takes all traffic from a bad version. */
const ROLLBACK_ATTEMPTS = 5

/** Thrown if somebody else's deployment is active. */
class TakenOver extends Error {}
/** Thrown if the new version must not get more traffic. */
class Unfit extends Error {}

/** Returns the version that has all of the traffic. Throws an error with a message for the user if there is none. */
export function readSoleVersion(deployment: Deployment | undefined): string {
  if (deployment === undefined)
    throw new PlatformError("The Worker was never deployed. Deploy it once without --stage.", null)
  const [only] = deployment.versions
  if (only === undefined || deployment.versions.length > 1)
    throw new PlatformError(
      "Another staged deploy has not ended: the traffic is split. Wait for it, or end it with: npm run rollback",
      null,
    )
  return only.version
}

export async function deployInStages(
  api: PlatformApi,
  version: string,
  plan: StagePlan,
  { print, signal }: { readonly print: (line: string) => void; readonly signal: AbortSignal },
): Promise<StageOutcome> {
  const [active] = await api.listDeployments()
  const before = readSoleVersion(active)
  return await new StagedDeploy(api, version, before, plan, print, signal).run(active?.id ?? "")
}

class StagedDeploy {
  readonly #api: PlatformApi
  readonly #version: string
  readonly #before: string
  readonly #plan: StagePlan
  readonly #print: (line: string) => void
  readonly #signal: AbortSignal
  /** The id of the deployment that the next one must follow. */
  #own = ""
  /** The messages of this run's deployments. Any other deployment is somebody else's. */
  readonly #messages = new Set<string>()

  constructor(
    api: PlatformApi,
    version: string,
    before: string,
    plan: StagePlan,
    print: (line: string) => void,
    signal: AbortSignal,
  ) {
    this.#api = api
    this.#version = version
    this.#before = before
    this.#plan = plan
    this.#print = print
    this.#signal = signal
  }

  async run(active: string): Promise<StageOutcome> {
    this.#own = active
    try {
      for (const share of this.#plan.shares) {
        if (this.#signal.aborted) throw new Unfit("it was interrupted")
        await this.#setShare(share)
        if (share < 100) await this.#watch(share)
      }
      return { kind: "deployed", reason: `Version ${this.#version} has all of the traffic.` }
    } catch (error) {
      if (error instanceof TakenOver) return { kind: "left", reason: error.message }
      if (!(error instanceof Unfit || error instanceof PlatformError)) throw error
      return await this.#rollBack(error.message)
    }
  }

  async #setShare(share: number): Promise<void> {
    await this.#requireOwn()
    const rest = share < 100 ? [{ version: this.#before, share: 100 - share }] : []
    const message = `cuecard: ${share} % of ${this.#version}`
    await this.#deploy([{ version: this.#version, share }, ...rest], message)
    this.#print(`${share} % of the traffic goes to ${this.#version}.`)
  }

  /**
   * Makes a deployment and records its id. The platform offers no conditional request for this, so somebody else's
   * simultaneous deployment is found in the list afterwards.
   */
  async #deploy(versions: Parameters<PlatformApi["createDeployment"]>[0], message: string): Promise<void> {
    const known = this.#own
    this.#messages.add(message)
    try {
      this.#own = await this.#api.createDeployment(versions, message)
    } catch (error) {
      if (!(error instanceof PlatformError) || error.status !== null) throw error
      // The deployment may have been made despite the error.
      if ((await this.#requireOwn()).message !== message) throw error
    }
    await this.#requireOwn()
    await this.#giveWay(known)
  }

  /** If this run's last deployment has replaced one that somebody else made just before, restores that one. */
  async #giveWay(known: string): Promise<void> {
    const [, earlier] = await this.#api.listDeployments()
    if (earlier === undefined || earlier.id === known || this.#messages.has(earlier.message)) return
    await this.#api.createDeployment(earlier.versions, earlier.message)
    throw new TakenOver(describeOther(earlier.id))
  }

  /**
   * Returns the active deployment if this run made it, even in a request that seemed to fail. Otherwise, throws
   * TakenOver.
   */
  async #requireOwn(): Promise<Deployment> {
    const [newest] = await this.#api.listDeployments()
    if (newest !== undefined && this.#messages.has(newest.message)) this.#own = newest.id
    if (newest?.id === this.#own) return newest
    throw new TakenOver(describeOther(newest?.id ?? "unknown"))
  }

  /** Returns when the new version has been watched for long enough and is not worse. */
  async #watch(share: number): Promise<void> {
    const { watchMs, pollMs, minRequests } = this.#plan
    const started = Date.now()
    let blind = 0
    for (;;) {
      await this.#pause(pollMs)
      await this.#requireOwn()
      const counts = await this.#tryCount(started)
      blind = counts === null ? blind + 1 : 0
      if (blind >= MAX_BLIND_POLLS)
        throw new Unfit("the platform's counts cannot be read, so the version can't be compared")
      const elapsedMs = Date.now() - started
      if (counts !== null) {
        const { before, after } = counts
        if (isWorse(before, after))
          throw new Unfit(`it fails more often: ${describeCount(after)}; old version: ${describeCount(before)}`)
        if (elapsedMs >= watchMs && after.requests >= minRequests) {
          this.#print(`At ${share} %: ${describeCount(after)}; old version: ${describeCount(before)}.`)
          return
        }
      }
      if (elapsedMs >= watchMs * MAX_WATCHES)
        throw new Unfit(`it had fewer than ${minRequests} requests, which is too few to compare`)
    }
  }

  async #tryCount(from: number): Promise<{ before: RequestCount; after: RequestCount } | null> {
    try {
      const counts = await this.#api.countRequests(from, Date.now())
      const countOf = (version: string): RequestCount => counts.get(version) ?? { requests: 0, failed: 0 }
      return { before: countOf(this.#before), after: countOf(this.#version) }
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      this.#print(`The counts cannot be read: ${error.message}`)
      return null
    }
  }

  async #pause(ms: number): Promise<void> {
    if (!this.#signal.aborted)
      await new Promise<void>((done) => {
        const timer = setTimeout(finish, ms)
        const signal = this.#signal
        function finish(): void {
          clearTimeout(timer)
          signal.removeEventListener("abort", finish)
          done()
        }
        signal.addEventListener("abort", finish)
      })
    if (this.#signal.aborted) throw new Unfit("it was interrupted")
  }

  /** Gives all traffic back to the old version, unless the old version already has it. */
  async #rollBack(because: string): Promise<StageOutcome> {
    if (this.#messages.size === 0) return { kind: "unchanged", reason: `Nothing was changed: ${because}.` }
    this.#print(`Rolling back to ${this.#before}: ${because}.`)
    let last = because
    for (let attempt = 1; attempt <= ROLLBACK_ATTEMPTS; attempt += 1) {
      try {
        await this.#requireOwn()
        await this.#deploy([{ version: this.#before, share: 100 }], `cuecard: ${this.#version} taken back`)
        return { kind: "rolled_back", reason: `Version ${this.#before} has all of the traffic again: ${because}.` }
      } catch (error) {
        if (error instanceof TakenOver) return { kind: "left", reason: error.message }
        if (!(error instanceof PlatformError)) throw error
        last = error.message
        this.#print(`The rollback failed: ${last}`)
      }
    }
    return { kind: "stuck", reason: `The traffic is still split, because the rollback failed: ${last}` }
  }
}

function describeOther(deployment: string): string {
  return `Somebody else has deployed in the meantime (deployment ${deployment}). That deployment stays as it is.`
}
