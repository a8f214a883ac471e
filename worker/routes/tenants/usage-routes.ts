/** usage-routes.ts: administrators read the usage of their tenant, as JSON or CSV, and set its prices. */

import type { Context } from "hono"
import { BUILT_IN_PRICES } from "../../../shared/usage/built-in-prices.ts"
import { pricesSchema, toPriceEntries } from "../../../shared/usage/price-change.ts"
import { RENEW_TURNS } from "../../../shared/usage/user-account.ts"
import { type PricesView, pricesToView } from "../../../shared/usage/price-view.ts"
import type { PriceEntry } from "../../../shared/usage/price-entry.ts"
import type { UsagePage, UsageQuery } from "../../../shared/usage/usage-page.ts"
import { formatCsvHead, formatCsvRows, pageToView, type UsageView } from "../../../shared/usage/usage-view.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import type { SessionOwner } from "../../platform/rpc/claims.ts"
import type { Env } from "../../env.ts"
import { FreshCache } from "../../platform/fresh-cache.ts"
import { directoryStub, tenantStub } from "../../platform/rpc/object-stubs.ts"
import { waitAtMost } from "../../platform/timeout.ts"
import { usageQuerySchema } from "../../settings/usage-query.ts"
import { findPriceRevision } from "../../usage/price-rows.ts"
import { readActor } from "../access/request-actor.ts"
import { type AppEnv, readBody, readQuery } from "../request-body.ts"

/**
 * Maximum number of users whose directories are called to report outstanding usage: as many as there are on one page of
 * usage by user.
 */
const MAX_REFRESHED_USERS = 100

/**
 * Minimum time between two calls from an isolate to the same directories, and maximum wait for their reports, in
 * milliseconds.
 */
const REFRESH_PAUSE_MS = 30_000
const REFRESH_WAIT_MS = 3_000

/** Maximum number of directories that a request calls at the same time. */
const CONCURRENT_REFRESHES = 8

/**
 * When usage by user is exported as CSV, directories are called for at most this many pages. The platform allows 1,000
 * requests per event.
 */
const MAX_REFRESHED_PAGES = 8

/** Whether the totals were complete after the last refresh, keyed by tenant and first user. */
const refreshed = new FreshCache<boolean>(REFRESH_PAUSE_MS, 1_000)

export async function readUsage(context: Context<AppEnv>): Promise<Response> {
  const query = readQuery(context, usageQuerySchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { format, ...range } = query.value
  const isComplete = await refreshTotals(context, range)
  const page = await tenantOf(context).readUsage(range)
  const wantsCsv = format === "csv" || (format === undefined && isCsvAccepted(context))
  return wantsCsv
    ? respondWithCsv(context, range, page)
    : context.json({ ...pageToView(page), ...(isComplete ? {} : INCOMPLETE) })
}

/** The usage that may be missing from the totals. */
const INCOMPLETE = { incomplete: { turns_per_user: RENEW_TURNS - 1 } } satisfies Partial<UsageView>

/**
 * Makes directories report outstanding usage: all of them if the tenant has few users, otherwise those of the users on
 * the requested page of usage by user. The other directories of a larger tenant report after RENEW_TURNS turns of a
 * user, or when the month has ended (SPEC MT6, MT19).
 *
 * Returns whether all users have reported and the tenant's totals are therefore complete.
 */
async function refreshTotals(context: Context<AppEnv>, { by, after = "" }: UsageQuery): Promise<boolean> {
  const { tenant } = context.get("claims")
  const first = by === "user" ? after : ""
  const key = `${tenant} ${by === "user"} ${first}`
  const known = refreshed.get(key, Date.now())
  if (known !== undefined) return known
  const users = await tenantOf(context).listUsers(first, "", MAX_REFRESHED_USERS + 1)
  const hasMore = users.length > MAX_REFRESHED_USERS
  const called = by !== "user" && hasMore ? [] : users.slice(0, MAX_REFRESHED_USERS)
  const reported = await flushDirectories(
    context.env,
    called.map(({ id: user }) => ({ tenant, user })),
  )
  const isComplete = reported === called.length && first === "" && !hasMore
  refreshed.set(key, isComplete, Date.now())
  return isComplete
}

/**
 * Calls CONCURRENT_REFRESHES directories at a time, for at most REFRESH_WAIT_MS. Returns how many have reported by
 * then. Reports that arrive later are included in the next response; directories that have not been called by then are
 * not called at all.
 */
async function flushDirectories(env: Env, users: readonly SessionOwner[]): Promise<number> {
  const endsAt = Date.now() + REFRESH_WAIT_MS
  const waiting = users.values()
  let reported = 0
  const flushNext = async (): Promise<void> => {
    for (const user of waiting) {
      if (Date.now() >= endsAt) return
      const isFlushed = directoryStub(env, user)
        .flushUsage()
        .then(
          () => true,
          () => false,
        )
      if (await isFlushed) reported += 1
    }
  }
  await waitAtMost(
    Promise.all(Array.from({ length: CONCURRENT_REFRESHES }, flushNext)).then(() => {}),
    REFRESH_WAIT_MS,
  )
  return reported
}

export async function listPrices(context: Context<AppEnv>): Promise<Response> {
  const own = await tenantOf(context).listPrices()
  return respondWithPrices(context, own)
}

export async function setPrices(context: Context<AppEnv>): Promise<Response> {
  const body = await readBody(context, pricesSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const set = await tenantOf(context).setPrices(readActor(context), toPriceEntries(body.value), body.value.revision)
  return set.ok ? respondWithPrices(context, set.value) : faultToResponse(set.fault)
}

function respondWithPrices(context: Context<AppEnv>, own: readonly PriceEntry[]): Response {
  const view: PricesView = {
    prices: pricesToView(own),
    built_in: pricesToView(BUILT_IN_PRICES),
    revision: findPriceRevision(own),
  }
  return context.json(view)
}

function isCsvAccepted(context: Context<AppEnv>): boolean {
  return /^\s*text\/csv\s*(?:[;,]|$)/i.test(context.req.header("accept") ?? "")
}

/** Streams the whole list as CSV, reading each page when the client is ready for it. */
function respondWithCsv(context: Context<AppEnv>, query: UsageQuery, first: UsagePage): Response {
  const { from, to, by } = query
  const encoder = new TextEncoder()
  let page: UsagePage | null = first
  let pages = 1
  const readPage = async (after: string): Promise<UsagePage> => {
    if (by === "user" && pages++ < MAX_REFRESHED_PAGES) await refreshTotals(context, { ...query, after })
    return await tenantOf(context).readUsage({ ...query, after })
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode(formatCsvHead(by))),
      async pull(controller) {
        // A page of users can be empty even though more pages follow.
        for (let lines = ""; lines === ""; ) {
          if (page === null) return controller.close()
          const { rows, next } = pageToView(page)
          page = next === null ? null : await readPage(next)
          lines = formatCsvRows(by, rows)
          if (lines !== "") controller.enqueue(encoder.encode(lines))
        }
      },
    },
    { highWaterMark: 0 },
  )
  const { tenant } = context.get("claims")
  return context.body(body, 200, {
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${tenant}-usage-by-${by}-${from}-${to}.csv"`,
  })
}

function tenantOf(context: Context<AppEnv>) {
  return tenantStub(context.env, context.get("claims").tenant)
}
