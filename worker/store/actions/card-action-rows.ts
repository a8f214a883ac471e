/** card-action-rows.ts: the `card_action` table: the newest message for each card action. Source: SPEC KA3. */

import { toActionKey } from "../../../shared/protocol/cards/action-key.ts"
import type { ActionRef } from "../../../shared/protocol/cards/card-action.ts"
import type { Database } from "../database.ts"

/** The table is created on the first click, because most sessions have none. `name` is the key of the action. */
const CARD_ACTION_TABLE = `CREATE TABLE IF NOT EXISTS card_action (
  call_id TEXT NOT NULL, name TEXT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (call_id, name)) WITHOUT ROWID`

export function createCardActionRows({ queryAll, queryFirst, hasTable }: Database) {
  return {
    put(action: ActionRef, message: string): void {
      const insert = "INSERT OR REPLACE INTO card_action (call_id, name, message) VALUES (?, ?, ?)"
      queryAll(CARD_ACTION_TABLE)
      queryAll(insert, action.call_id, toActionKey(action), message)
    },

    /** Returns the id of the newest message that performed this action; null if there is none. */
    findMessage(action: ActionRef): string | null {
      if (!hasTable("card_action")) return null
      const query = "SELECT message FROM card_action WHERE call_id = ? AND name = ?"
      const row = queryFirst(query, action.call_id, toActionKey(action))
      return row === null ? null : String(row["message"])
    },
  }
}
