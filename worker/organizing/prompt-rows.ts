/** prompt-rows.ts: the SQL rows of a user's saved prompts. Source: SPEC WR20. */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_PROMPTS, type SavedPrompt } from "../../shared/protocol/writing/saved-prompt.ts"

export const PROMPT_TABLE = `CREATE TABLE prompts (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, changed INTEGER NOT NULL) WITHOUT ROWID`

type PromptRow = { id: string; name: string; text: string; changed: number }

export class PromptRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Lists all prompts, by name. Cost: at most MAX_PROMPTS rows. */
  list(): SavedPrompt[] {
    return this.#sql.exec<PromptRow>("SELECT id, name, text, changed FROM prompts ORDER BY name, id").toArray()
  }

  /** Adds or replaces a prompt. Errors: `prompts_full`. */
  put(prompt: SavedPrompt): Result<SavedPrompt> {
    const { id, name, text, changed } = prompt
    const others = this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM prompts WHERE id != ?", id).one().n
    if (others >= MAX_PROMPTS) return fail({ reason: "prompts_full", max: MAX_PROMPTS })
    this.#sql.exec(
      "INSERT OR REPLACE INTO prompts (id, name, text, changed) VALUES (?, ?, ?, ?)",
      id,
      name,
      text,
      changed,
    )
    return succeed(prompt)
  }

  /** Removes a prompt. Repeating the call has no effect. */
  remove(id: string): void {
    this.#sql.exec("DELETE FROM prompts WHERE id = ?", id)
  }
}
