/**
 * usage-rows.ts: compares the ledgers of a stopped server with its turns (SPEC MT5, MT18).
 *
 * calls of all turns = totals of the directories + reports not yet received
 * totals that the directories have sent = totals of the tenants + batches not yet received
 */

import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { toCanonicalJson } from "../../shared/json.ts"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import { addTotals, callsToEntries, NO_USAGE, type UsageTotals } from "../../shared/usage/usage-totals.ts"
import { rowToTotals, type TotalsRow } from "../../worker/usage/totals-columns.ts"

interface Ledger {
  readonly ledger: string
  readonly n: number
  readonly sending: UsageTotals
  readonly unsent: UsageTotals
}

export interface UsageSums {
  /** The usage of the calls of all turns that have ended. */
  readonly turns: UsageTotals
  /** The usage of the turns whose answer has a trace. */
  readonly traced: UsageTotals
  /** The usage of each other turn that has calls. */
  readonly untraced: readonly UsageTotals[]
  /** The totals of the directories, including reports that will be repeated. */
  readonly directories: UsageTotals
  /** The totals that the directories have sent, including batches that will be repeated. */
  readonly batches: UsageTotals
  /** The totals that the tenants have. */
  readonly tenants: UsageTotals
}

/** Returns the errors in the usage sums of a state folder. The server must be stopped. */
export function findUsageFaults(persist: string): string[] {
  const { turns, directories, batches, tenants } = readUsageSums(persist)
  return [
    ...findDifference("turns and directories", turns, directories),
    ...findDifference("batches and tenants", batches, tenants),
  ]
}

/**
 * Like `findUsageFaults`, but some of the turns were run by an earlier release without ledgers. The earlier release
 * removes the trace of each turn that it ends. So a turn with a trace was ended by this release, and is counted. A turn
 * with usage but no trace was run by both releases. It is counted as a whole if this release ended it, and otherwise
 * not at all.
 */
export function findMixedUsageFaults(persist: string): string[] {
  const { traced, untraced, directories, batches, tenants } = readUsageSums(persist)
  const found = findDifference("batches and tenants", batches, tenants)
  if (isSumOfSome(directories, traced, untraced)) return found
  const shared = untraced.map(toCanonicalJson).join(", ")
  return [...findDifference(`turns with a trace, others (${shared}), and directories`, traced, directories), ...found]
}

function findDifference(name: string, one: UsageTotals, other: UsageTotals): string[] {
  const [a, b] = [toCanonicalJson(one), toCanonicalJson(other)]
  return a === b ? [] : [`${name}: ${a} and ${b}`]
}

/**
 * Returns whether `whole` equals `start` plus some of the parts. Sums only grow, so most branches of the search end
 * early.
 */
export function isSumOfSome(whole: UsageTotals, start: UsageTotals, parts: readonly UsageTotals[]): boolean {
  const keys = Object.keys(NO_USAGE) as (keyof UsageTotals)[]
  if (keys.every((key) => start[key] === whole[key])) return true
  const [first, ...others] = parts
  if (first === undefined || keys.some((key) => start[key] > whole[key])) return false
  return isSumOfSome(whole, addTotals(start, first), others) || isSumOfSome(whole, start, others)
}

export function readUsageSums(persist: string): UsageSums {
  const sessions = readAll(persist, "Session", readSession)
  const directories = readAll(persist, "Directory", readDirectory)
  const tenants = readAll(persist, "Tenant", readTenant)
  const received = new Map(directories.flatMap(({ received: own }) => own))
  const added = new Map(tenants.flatMap(({ received: own }) => own))
  const turns = sessions.flatMap(({ turns: own }) => own)
  const unreceivedReports = sessions.flatMap(({ ledger }) => (ledger === null ? [] : listUnreceived(ledger, received)))
  // A directory's totals include a batch as soon as the batch is begun.
  const unreceivedBatches = directories.flatMap(({ batch }) => (batch === null ? [] : listUnreceived(batch, added)))
  return {
    turns: sumTotals(turns.map(({ totals }) => totals)),
    traced: sumTotals(turns.flatMap(({ totals, isTraced }) => (isTraced ? [totals] : []))),
    untraced: turns.flatMap(({ totals, isTraced }) => (isTraced ? [] : [totals])),
    directories: sumTotals([...directories.flatMap(({ sent, unsent }) => [sent, unsent]), ...unreceivedReports]),
    batches: sumTotals(directories.map(({ sent }) => sent)),
    tenants: sumTotals([...tenants.map(({ totals }) => totals), ...unreceivedBatches]),
  }
}

/** Returns the entries of a ledger that its receiver does not have yet. */
function listUnreceived({ ledger, n, sending, unsent }: Ledger, received: ReadonlyMap<string, number>): UsageTotals[] {
  return (received.get(ledger) ?? 0) < n ? [sending, unsent] : [unsent]
}

function sumTotals(totals: readonly UsageTotals[]): UsageTotals {
  return totals.reduce(addTotals, NO_USAGE)
}

function parseEntries(json: unknown): UsageTotals {
  return sumTotals(JSON.parse(String(json)) as UsageTotals[])
}

/** Reads the database of each object of a class, if that database has usage tables. The server must be stopped. */
export function readAll<T>(persist: string, name: string, read: (database: DatabaseSync) => T): T[] {
  const folder = join(persist, "do", `cuecard-${name}`)
  const files = existsSync(folder) ? readdirSync(folder) : []
  return files.flatMap((file) => {
    if (!file.endsWith(".sqlite") || file.startsWith("metadata")) return []
    const database = new DatabaseSync(join(folder, file))
    try {
      const table = name === "Session" ? "usage" : "usage_total"
      const found = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").all(table)
      return found.length === 0 ? [] : [read(database)]
    } finally {
      database.close()
    }
  })
}

function readSession(database: DatabaseSync) {
  const rows = database
    .prepare("SELECT usage, meta FROM transcript WHERE usage IS NOT NULL AND status NOT IN ('running', 'waiting')")
    .all()
  const turns = rows.map((row) => ({
    totals: sumTotals(callsToEntries(JSON.parse(String(row["usage"])) as PricedCall[], "", "")),
    isTraced: "trace" in (JSON.parse(String(row["meta"])) as object),
  }))
  const [own] = database.prepare("SELECT ledger, n, sending, unsent FROM usage").all()
  const ledger = own === undefined ? null : toLedger(own, own["unsent"])
  return { turns, ledger }
}

function readDirectory(database: DatabaseSync) {
  const rows = database.prepare("SELECT ledger, n, unsent FROM usage_session").all()
  const [batch] = database.prepare("SELECT ledger, n, sending FROM usage_batch").all()
  return {
    received: rows.map((row) => [String(row["ledger"]), Number(row["n"])] as const),
    unsent: sumTotals(rows.map((row) => parseEntries(row["unsent"]))),
    sent: readTotals(database),
    batch: batch === undefined ? null : toLedger(batch, "[]"),
  }
}

function readTenant(database: DatabaseSync) {
  const rows = database.prepare("SELECT ledger, n FROM usage_ledger").all()
  return {
    received: rows.map((row) => [String(row["ledger"]), Number(row["n"])] as const),
    totals: readTotals(database),
  }
}

function toLedger(row: Record<string, unknown>, unsent: unknown): Ledger {
  const { ledger, n, sending } = row
  return { ledger: String(ledger), n: Number(n), sending: parseEntries(sending), unsent: parseEntries(unsent) }
}

function readTotals(database: DatabaseSync): UsageTotals {
  const rows = database.prepare("SELECT * FROM usage_total").all() as unknown as TotalsRow[]
  return sumTotals(rows.map(rowToTotals))
}
