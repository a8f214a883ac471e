/** card-rows.ts: the versions of a tenant's cards, in the tenant object. Source: SPEC CV9 to CV11. */

import type { CardSummary, StoredCard, ToolCard } from "../../settings/cards/card-rpc.ts"
import { addVersion, type CardRow } from "./card-table.ts"

const SUMMARY = 'name, tool AS "for", revision'
/** Only the current version of a card has samples. */
const CURRENT = "samples IS NOT NULL"

export function listCards(sql: SqlStorage): CardSummary[] {
  return sql
    .exec<Record<keyof CardSummary, string>>(`SELECT ${SUMMARY} FROM cards WHERE ${CURRENT} ORDER BY name`)
    .toArray()
}

export function readCard(sql: SqlStorage, name: string): StoredCard | null {
  const [row] = sql.exec<CardRow>(`SELECT * FROM cards WHERE name = ? AND ${CURRENT}`, name).toArray()
  if (row === undefined) return null
  const { tool, revision, view, schema, samples } = row
  return { name, for: tool, revision, view, schema, samples: samples ?? "[]" }
}

export function readCardView(sql: SqlStorage, name: string, revision: string): string | null {
  const query = "SELECT view FROM cards WHERE name = ? AND revision = ?"
  return sql.exec<{ view: string }>(query, name, revision).toArray()[0]?.view ?? null
}

export function listToolCards(sql: SqlStorage): ToolCard[] {
  const rows = sql.exec<CardRow>(`SELECT * FROM cards WHERE ${CURRENT}`).toArray()
  return rows.map(({ tool, name, revision, schema }) => ({ tool, view: `${name}@${revision}`, schema }))
}

/** Makes a version the current one of its card. */
export function writeCard(sql: SqlStorage, card: StoredCard): void {
  endCard(sql, card.name)
  addVersion(sql, [card, card.samples])
}

/** Removes a card, so that results no longer cue it. Its versions are kept. */
export function endCard(sql: SqlStorage, name: string): void {
  sql.exec("UPDATE cards SET samples = NULL WHERE name = ?", name)
}

/**
 * Removes the oldest versions that aren't current, until the remaining ones are within the limits. Returns whether they
 * are.
 */
export function trimVersions(sql: SqlStorage, name: string, maxVersions: number, maxBytes: number): boolean {
  sql.exec(
    `DELETE FROM cards WHERE samples IS NULL AND name = ? AND n NOT IN
     (SELECT n FROM cards WHERE name = ? ORDER BY n DESC LIMIT ?)`,
    name,
    name,
    maxVersions,
  )
  while (countBytes(sql) > maxBytes) {
    const [oldest] = sql.exec<{ n: number }>("SELECT min(n) AS n FROM cards WHERE samples IS NULL").toArray()
    if (oldest?.n == null) return false
    sql.exec("DELETE FROM cards WHERE n = ?", oldest.n)
  }
  return true
}

function countBytes(sql: SqlStorage): number {
  const query = `SELECT coalesce(sum(length(CAST(view AS BLOB)) + length(CAST(schema AS BLOB))
    + coalesce(length(CAST(samples AS BLOB)), 0)), 0) AS bytes FROM cards`
  return sql.exec<{ bytes: number }>(query).one().bytes
}
