/** staged-deploy.test.ts: tests staged deploys and rollbacks with a fake of the platform's API on this machine. */

import { afterEach, beforeEach, describe, expect, test } from "vitest"
import fc from "fast-check"
import { isWorse } from "../../scripts/release/error-rates.ts"
import { PlatformApi, PlatformError, readPlatformSettings } from "../../scripts/release/platform-api.ts"
import { rollBack } from "../../scripts/release/earlier-version.ts"
import { readStagePlan } from "../../scripts/release/stage-plan.ts"
import { deployInStages, type StageOutcome, type StagePlan } from "../../scripts/release/staged-deploy.ts"
import { ACCOUNT, type FakePlatform, type Seen, startFakePlatform } from "../support/fake-platform.ts"

const OLD = "old-version"
const NEW = "new-version"
const PLAN: StagePlan = { shares: [5, 25, 50, 100], watchMs: 30, pollMs: 10, minRequests: 200 }
const HEALTHY = { [OLD]: { requests: 9_500, failed: 9 }, [NEW]: { requests: 500, failed: 0 } }
const BROKEN = { [OLD]: { requests: 9_500, failed: 9 }, [NEW]: { requests: 500, failed: 40 } }

let platform: FakePlatform
beforeEach(async () => {
  platform = await startFakePlatform(OLD, ["older-version"])
  platform.deployable.push(NEW)
  platform.rates = HEALTHY
})
afterEach(() => platform.close())

const createApi = (): PlatformApi =>
  new PlatformApi({
    baseUrl: platform.url,
    token: "t",
    account: ACCOUNT,
    script: "cuecard",
    requestMs: 300,
    firstPauseMs: 5,
  })

async function deployVersion(plan: StagePlan = PLAN, signal = new AbortController().signal): Promise<StageOutcome> {
  return await deployInStages(createApi(), NEW, plan, { print: () => {}, signal })
}

/** Returns the new version's traffic shares, in the order in which they were deployed. */
const sharesOf = (): number[] =>
  platform.deployments
    .map(({ versions }) => versions.find(({ version_id }) => version_id === NEW)?.percentage ?? 0)
    .reverse()
    .slice(2)

const isDeployment = ({ method, path }: Seen): boolean => method === "POST" && path.endsWith("/deployments")
const isCount = ({ path }: Seen): boolean => path.endsWith("/query")

describe("a staged deploy", () => {
  test("[DP3] raises the share of the new version in steps while it fails no more often than the old one", async () => {
    expect(await deployVersion()).toMatchObject({ kind: "deployed" })
    expect(sharesOf()).toEqual([5, 25, 50, 100])
    expect(platform.traffic()).toEqual({ [NEW]: 100 })
  })

  test("[DP15] a version that fails more often is rolled back at the first comparison that shows it", async () => {
    platform.rates = BROKEN
    const outcome = await deployVersion()
    expect(outcome).toMatchObject({ kind: "rolled_back" })
    expect(outcome.reason).toContain("40 of 500 requests failed (8.00 %)")
    expect(sharesOf()).toEqual([5, 0])
    expect(platform.traffic()).toEqual({ [OLD]: 100 })
  })

  test("[DP15] a version that fails only with more traffic is rolled back at that share", async () => {
    platform.misbehave = (seen) => {
      if (isCount(seen) && platform.traffic()[NEW] === 50) platform.rates = BROKEN
      return null
    }
    expect(await deployVersion()).toMatchObject({ kind: "rolled_back" })
    expect(sharesOf()).toEqual([5, 25, 50, 0])
  })

  test("[DP15] with too few requests to compare, it waits and then rolls back", async () => {
    platform.rates = { [OLD]: { requests: 50, failed: 0 }, [NEW]: { requests: 3, failed: 0 } }
    const outcome = await deployVersion()
    expect(outcome).toMatchObject({ kind: "rolled_back" })
    expect(outcome.reason).toContain("fewer than 200 requests")
    expect(sharesOf()).toEqual([5, 0])
  })

  test("[DP4] nothing starts while the traffic is split, or without a first deploy", async () => {
    const split = [
      { version_id: OLD, percentage: 90 },
      { version_id: "older-version", percentage: 10 },
    ]
    platform.deployments.unshift({ ...platform.deployments[0], id: "split", versions: split } as never)
    await expect(deployVersion()).rejects.toThrow("npm run rollback")
    platform.deployments.length = 0
    await expect(deployVersion()).rejects.toThrow("never deployed")
    expect(platform.seen.filter(isDeployment)).toEqual([])
  })

  test("[DP4] another person's deployment ends the staged deploy at any time, and is left unchanged", async () => {
    for (const after of [1, 2, 3, 4, 5, 6, 7, 9, 12]) {
      platform.deployments.splice(0, platform.deployments.length - 2)
      let requests = 0
      platform.misbehave = () => {
        requests += 1
        if (requests === after) platform.deploy("older-version")
        return null
      }
      const { kind, reason } = await deployVersion()
      // If the other deployment is made before the first request, the comparison simply uses its version.
      if (after === 1) expect(kind).toBe("deployed")
      else expect([after, kind, reason]).toEqual([after, "left", expect.stringContaining("Somebody else")])
      if (after > 1) expect(platform.traffic()).toEqual({ "older-version": 100 })
    }
  })

  test("[DP4] an interrupted deploy sends the traffic back to the old version", async () => {
    const interrupted = new AbortController()
    platform.misbehave = (seen) => {
      if (isCount(seen)) interrupted.abort()
      return null
    }
    expect(await deployVersion({ ...PLAN, pollMs: 5 }, interrupted.signal)).toMatchObject({
      kind: "rolled_back",
      reason: expect.stringContaining("interrupted"),
    })
    expect(platform.traffic()).toEqual({ [OLD]: 100 })
    // Before the first step, there is nothing to roll back.
    expect(await deployVersion(PLAN, AbortSignal.abort())).toMatchObject({ kind: "unchanged" })
  })
})

describe("a platform that misbehaves", () => {
  test("[DP5] requests are repeated after temporary errors and slow or unreadable responses", async () => {
    const odd = [{ status: 503 }, "hang", { status: 429, retryAfter: "0" }, "garbage"] as const
    let n = 0
    platform.misbehave = (seen) => {
      n += 1
      return !isDeployment(seen) && n % 3 === 0 ? (odd[(n / 3) % odd.length] ?? null) : null
    }
    expect(await deployVersion({ ...PLAN, watchMs: 1_000 })).toMatchObject({ kind: "deployed" })
    expect(sharesOf()).toEqual([5, 25, 50, 100])
  })

  test("[DP5] a deployment whose response is lost is not made twice", async () => {
    platform.misbehave = (seen) => (isDeployment(seen) ? "lose" : null)
    expect(await deployVersion()).toMatchObject({ kind: "deployed" })
    expect(sharesOf()).toEqual([5, 25, 50, 100])
  })

  test("[DP5] a step that the platform refuses is rolled back", async () => {
    platform.misbehave = (seen) => (isDeployment(seen) && seen.body.includes(":25") ? { status: 400 } : null)
    expect(await deployVersion()).toMatchObject({ kind: "rolled_back", reason: expect.stringContaining("odd (1)") })
    expect(sharesOf()).toEqual([5, 0])
  })

  test("[DP5] if the counts cannot be read, the deploy is rolled back", async () => {
    platform.misbehave = (seen) => (isCount(seen) ? { status: 500 } : null)
    expect(await deployVersion({ ...PLAN, watchMs: 10_000 })).toMatchObject({
      kind: "rolled_back",
      reason: expect.stringContaining("the version can't be compared"),
    })
  })

  test("[DP5] a failed rollback is retried; if it never succeeds, the command reports that", async () => {
    platform.rates = BROKEN
    let failures = 3
    platform.misbehave = (seen) => {
      const isBack = isDeployment(seen) && seen.body.includes("taken back")
      failures -= isBack ? 1 : 0
      return isBack && failures >= 0 ? { status: 500 } : null
    }
    expect(await deployVersion()).toMatchObject({ kind: "rolled_back" })
    failures = Number.POSITIVE_INFINITY
    expect(await deployVersion()).toMatchObject({ kind: "stuck", reason: expect.stringContaining("still split") })
    expect(platform.traffic()).toEqual({ [NEW]: 5, [OLD]: 95 })
    // The recommended command must work.
    platform.misbehave = null
    expect(await rollBack(createApi(), null, false)).toEqual({ from: [NEW, OLD], to: OLD })
    expect(platform.traffic()).toEqual({ [OLD]: 100 })
  })

  test("[DP5] the token is sent only over https or to this machine", () => {
    const env = { CLOUDFLARE_API_TOKEN: "t", CLOUDFLARE_ACCOUNT_ID: ACCOUNT }
    const readSettings = (url: string) => () =>
      readPlatformSettings({ ...env, CLOUDFLARE_API_BASE_URL: url }, "cuecard")
    expect(readSettings("http://api.example.com")).toThrow("https")
    expect(readSettings("nowhere")).toThrow("https")
    expect(readSettings("http://127.0.0.1:9/")().baseUrl).toBe("http://127.0.0.1:9")
    expect(() => readPlatformSettings({}, "cuecard")).toThrow("CLOUDFLARE_API_TOKEN")
  })
})

describe("a rollback", () => {
  test("[DP6] restores the previous version, and a second one undoes that", async () => {
    expect(await rollBack(createApi(), null, true)).toEqual({ from: [OLD], to: "older-version" })
    expect(platform.traffic()).toEqual({ [OLD]: 100 })
    expect(await rollBack(createApi(), null, false)).toEqual({ from: [OLD], to: "older-version" })
    expect(platform.traffic()).toEqual({ "older-version": 100 })
    expect(await rollBack(createApi(), NEW, false)).toEqual({ from: ["older-version"], to: NEW })
  })

  test("[DP6] refuses a version that can no longer be deployed, such as one before a migration", async () => {
    platform.deployable.splice(0, 2, OLD)
    await expect(rollBack(createApi(), null, false)).rejects.toThrow("a migration was applied after it")
    await expect(rollBack(createApi(), OLD, false)).rejects.toThrow("has all of the traffic")
    platform.deployments.length = 1
    await expect(rollBack(createApi(), null, false)).rejects.toThrow(PlatformError)
    expect(platform.seen.filter(isDeployment)).toEqual([])
  })
})

describe("the comparison", () => {
  test("[DP15] reports a version as worse only if it has at least three failures and its rate is higher by half a percentage point and by three standard errors", () => {
    const before = { requests: 9_500, failed: 10 }
    for (const [after, expected] of [
      [{ requests: 500, failed: 0 }, false],
      [{ requests: 0, failed: 0 }, false],
      [{ requests: 10, failed: 2 }, false],
      [{ requests: 1_000, failed: 5 }, false],
      [{ requests: 500, failed: 6 }, true],
      [{ requests: 10, failed: 10 }, true],
    ] as const)
      expect(isWorse(before, after), JSON.stringify(after)).toBe(expected)
    // If both versions fail equally often, the new version is not the cause.
    expect(isWorse({ requests: 9_500, failed: 950 }, { requests: 500, failed: 56 })).toBe(false)
    expect(isWorse({ requests: 0, failed: 0 }, { requests: 100, failed: 100 })).toBe(true)
  })

  test("[DP15] a version without failures is never worse, and more failures never make it better", () => {
    const count = fc.nat(100_000)
    fc.assert(
      fc.property(count, count, count, count, count, (requests, failed, newRequests, newFailed, more) => {
        const before = { requests: requests + failed, failed }
        expect(isWorse(before, { requests: newRequests, failed: 0 })).toBe(false)
        const total = newRequests + newFailed + more
        const isBad = isWorse(before, { requests: total, failed: newFailed })
        if (isBad) expect(isWorse(before, { requests: total, failed: newFailed + more })).toBe(true)
      }),
      { seed: 7 },
    )
  })

  test("[DP3] the shares rise to 100, and other options are refused with the usage", () => {
    expect(readStagePlan({ stage: "5" })).toEqual({
      shares: [5, 25, 50, 100],
      watchMs: 600_000,
      pollMs: 30_000,
      minRequests: 200,
    })
    expect(readStagePlan({ stage: "1,10", minutes: "1", requests: "9" }).shares).toEqual([1, 10, 100])
    expect(readStagePlan({ stage: "60" }).shares).toEqual([60, 100])
    for (const stage of ["0", "-5", "x", "", "50,5", "101", "NaN"])
      expect(() => readStagePlan({ stage })).toThrow("--stage 5")
    for (const minutes of ["0", "-1", "1e9", "x"])
      expect(() => readStagePlan({ stage: "5", minutes })).toThrow("--minutes")
  })
})
