/**
 * card-table.ts: the table of card versions, and its rows in an export. The other code for cards is loaded on demand.
 * Source: SPEC CV9.
 */

import type { CardVersion } from "../../settings/cards/card-rpc.ts"

/** One row for each version. The samples are those of the current version; older ones are only shown. */
export const CARD_TABLE = `CREATE TABLE cards (n INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL,
  revision TEXT NOT NULL, tool TEXT NOT NULL, view TEXT NOT NULL, schema TEXT NOT NULL, samples TEXT,
  UNIQUE (name, revision))`

export type CardRow = {
  n: number
  name: string
  revision: string
  tool: string
  view: string
  schema: string
  samples: string | null
}

/** Returns the card versions for an export of the tenant, oldest first. */
export function readVersions(sql: SqlStorage): CardVersion[] {
  const rows = sql.exec<CardRow>("SELECT * FROM cards ORDER BY n").toArray()
  return rows.map(({ name, revision, tool, view, schema, samples }) => [
    { name, revision, for: tool, view, schema },
    samples,
  ])
}

export function addVersion(sql: SqlStorage, [{ name, revision, for: tool, view, schema }, samples]: CardVersion): void {
  sql.exec(
    "INSERT OR REPLACE INTO cards (name, revision, tool, view, schema, samples) VALUES (?, ?, ?, ?, ?, ?)",
    name,
    revision,
    tool,
    view,
    schema,
    samples,
  )
}
