/** price-rows.ts: the SQL row of a tenant's own prices. */

import { sha256 } from "@noble/hashes/sha2.js"
import { parseJson } from "../../shared/json.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"
import { bytesToHex } from "../platform/crypto/hex.ts"

export const PRICE_TABLE = "CREATE TABLE prices (one INTEGER PRIMARY KEY CHECK (one = 1), config TEXT NOT NULL)"

export function readPrices(sql: SqlStorage): readonly PriceEntry[] {
  const [row] = sql.exec<{ config: string }>("SELECT config FROM prices").toArray()
  // `writePrices` wrote this JSON.
  return row === undefined ? [] : (parseJson(row.config) as unknown as PriceEntry[])
}

export function writePrices(sql: SqlStorage, prices: readonly PriceEntry[]): void {
  sql.exec("INSERT OR REPLACE INTO prices (one, config) VALUES (1, ?)", JSON.stringify(prices))
}

/** Computes a revision, which is equal only for equal lists, so that a change can name the list that it replaces. */
export function findPriceRevision(prices: readonly PriceEntry[]): string {
  return bytesToHex(sha256(new TextEncoder().encode(JSON.stringify(prices)))).slice(0, 32)
}
