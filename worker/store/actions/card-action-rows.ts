/** card-action-rows.ts: the `card_action` table: the newest message of each action of a card. Source: SPEC KA3. */

import type { ActionRef } from "../../../shared/protocol/cards/card-action.ts"
import type { Database } from "../database.ts"

/** Created with the first click, because most sessions have none. */
const CARD_ACTION_TABLE = `CREATE TABLE IF NOT EXISTS card_action (
  call_id TEXT NOT NULL, name TEXT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (call_id, name)) WITHOUT ROWID`

export function createCardActionRows({ queryAll, queryFirst, hasTable }: Database) {
  return {
    put({ call_id, name }: ActionRef, message: string): void {
      queryAll(CARD_ACTION_TABLE)
      queryAll("INSERT OR REPLACE INTO card_action (call_id, name, message) VALUES (?, ?, ?)", call_id, name, message)
    },

    /** The id of the newest message that stands for this action; null if there is none. */
    findMessage({ call_id, name }: ActionRef): string | null {
      if (!hasTable("card_action")) return null
      const query = "SELECT message FROM card_action WHERE call_id = ? AND name = ?"
      const row = queryFirst(query, call_id, name)
      return row === null ? null : String(row["message"])
    },
  }
}
