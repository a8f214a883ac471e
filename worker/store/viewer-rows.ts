/** viewer-rows.ts: the `viewer` table: the users with whom the session is shared. */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_SESSION_VIEWERS } from "../../shared/limits.ts"
import type { SessionViewer } from "../../shared/protocol/http-body.ts"
import type { Database } from "./database.ts"

export type ViewerRows = ReturnType<typeof createViewerRows>

export function createViewerRows({ queryAll, queryFirst }: Database) {
  const findViewer = (user: string): SessionViewer | null => {
    const row = queryFirst("SELECT since FROM viewer WHERE user = ?", user)
    return row === null ? null : { user, since: Number(row["since"]) }
  }
  return {
    has: (user: string): boolean => findViewer(user) !== null,

    /** Adds a viewer, and returns the stored viewer. Adding a viewer again has no effect. Errors: `viewers_full`. */
    add(user: string, now: number): Result<SessionViewer> {
      const known = findViewer(user)
      if (known !== null) return succeed(known)
      const count = Number(queryFirst("SELECT count(*) AS n FROM viewer")?.["n"] ?? 0)
      if (count >= MAX_SESSION_VIEWERS) return fail({ reason: "viewers_full", max: MAX_SESSION_VIEWERS })
      queryAll("INSERT INTO viewer (user, since) VALUES (?, ?)", user, now)
      return succeed({ user, since: now })
    },

    remove(user: string): void {
      queryAll("DELETE FROM viewer WHERE user = ?", user)
    },

    /** Returns all viewers, oldest first. Cost: at most MAX_SESSION_VIEWERS rows. */
    list(): SessionViewer[] {
      return queryAll("SELECT user, since FROM viewer ORDER BY since, user").map(({ user, since }) => ({
        user: String(user),
        since: Number(since),
      }))
    },
  }
}
