/**
 * provider-state-rows.ts: the `provider_state` table: the state that a provider must receive again in the next step of
 * a turn, such as the signatures of its thinking. The state is opaque, and no frame, export, copy or log contains it.
 * Source: SPEC MO16.
 */

import type { Database } from "../database.ts"

/** The table is created with the first state, because most sessions have none. */
const PROVIDER_STATE_TABLE = `CREATE TABLE IF NOT EXISTS provider_state (
  pos INTEGER NOT NULL, step INTEGER NOT NULL, model TEXT NOT NULL, data TEXT NOT NULL,
  PRIMARY KEY (pos, step)) WITHOUT ROWID`

export interface StepState {
  readonly step: number
  /** The model that returned the state. The state isn't sent to any other model. */
  readonly model: string
  readonly data: string
}

export function createProviderStateRows({ queryAll, hasTable }: Database) {
  return {
    /** Returns the states of an answer, oldest first. */
    list(pos: number): StepState[] {
      if (!hasTable("provider_state")) return []
      return queryAll("SELECT step, model, data FROM provider_state WHERE pos = ? ORDER BY step", pos).map((row) => ({
        step: Number(row["step"]),
        model: String(row["model"]),
        data: String(row["data"]),
      }))
    },

    put(pos: number, { step, model, data }: StepState): void {
      queryAll(PROVIDER_STATE_TABLE)
      queryAll(
        "INSERT OR REPLACE INTO provider_state (pos, step, model, data) VALUES (?, ?, ?, ?)",
        pos,
        step,
        model,
        data,
      )
    },

    remove(pos: number): void {
      queryAll("DELETE FROM provider_state WHERE pos = ?", pos)
    },
  }
}
