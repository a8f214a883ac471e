/** stage-plan.ts: reads the options of a staged deploy. Pure. */

import { PlatformError } from "./platform-api.ts"
import type { StagePlan } from "./staged-deploy.ts"

/** The shares that follow the first one, in percent. */
const LATER_SHARES = [25, 50, 100]
const DEFAULT_MINUTES = "10"
/** With 200 requests, three more failures than in the old version are a difference of 1.5 %. */
const DEFAULT_REQUESTS = "200"
const MAX_MINUTES = 24 * 60
const MAX_POLL_MS = 30_000
const POLLS_PER_WATCH = 10

const USAGE = `npm run deploy -- --stage 5              5 % of the traffic first, then 25, 50 and 100 %
npm run deploy -- --stage 1,10,40        other shares; the last step is always 100 %
--minutes 10      how long both versions are compared at each share
--requests 200    the new version's requests that a comparison needs`

/** Parses the options. Throws an error with a message for the user if they are invalid. */
export function readStagePlan(options: Readonly<Record<string, unknown>>): StagePlan {
  const given = String(options["stage"]).split(",").map(Number)
  const shares = given.length > 1 ? given : [...given, ...LATER_SHARES.filter((share) => share > (given[0] ?? 0))]
  const minutes = Number(options["minutes"] ?? DEFAULT_MINUTES)
  const minRequests = Number(options["requests"] ?? DEFAULT_REQUESTS)
  const rises = shares.every((share, i) => share > (shares[i - 1] ?? 0) && share <= 100)
  const isUsable = rises && minutes > 0 && minutes <= MAX_MINUTES && Number.isInteger(minRequests) && minRequests > 0
  if (!isUsable) throw new PlatformError(USAGE, null)
  const watchMs = minutes * 60_000
  const all = shares.at(-1) === 100 ? shares : [...shares, 100]
  return { shares: all, watchMs, pollMs: Math.min(MAX_POLL_MS, watchMs / POLLS_PER_WATCH), minRequests }
}
