/** tool-grant-rows.ts: the `tool_grant` table: the tools whose calls the user always allows here. Source: SPEC AP8. */

import type { AllowedTool } from "../../../shared/protocol/writing/answer-usage.ts"
import { columnToText } from "../columns.ts"
import type { Database } from "../database.ts"

export const TOOL_GRANT_TABLE = "CREATE TABLE tool_grant (tool TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID"

export function createToolGrantRows({ queryAll, queryFirst }: Database) {
  return {
    has: (tool: string): boolean => queryFirst("SELECT 1 FROM tool_grant WHERE tool = ?", tool) !== null,

    /** Adds a tool. Adding it again has no effect. */
    add(tool: string, since: number): void {
      queryAll("INSERT OR IGNORE INTO tool_grant (tool, since) VALUES (?, ?)", tool, since)
    },

    remove(tool: string): void {
      queryAll("DELETE FROM tool_grant WHERE tool = ?", tool)
    },

    /** Lists all allowed tools, by name. */
    list(): AllowedTool[] {
      return queryAll("SELECT tool, since FROM tool_grant ORDER BY tool").map(({ tool, since }) => ({
        tool: columnToText(tool),
        since: Number(since),
      }))
    },
  }
}
