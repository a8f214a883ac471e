/** feedback-rows.ts: the `feedback` column of `transcript`: the owner's feedback on answers. Source: SPEC WR10. */

import type { AnswerFeedback, Feedback } from "../../../shared/protocol/writing/feedback.ts"
import { columnToText, parseJsonColumn, toJsonColumn } from "../columns.ts"
import type { Database } from "../database.ts"

/** With the index, answers with feedback are found without reading other rows. */
export const FEEDBACK_COLUMN = `ALTER TABLE transcript ADD COLUMN feedback TEXT; -- JSON: Feedback
   CREATE INDEX transcript_feedback ON transcript (pos) WHERE feedback IS NOT NULL`

export function createFeedbackRows({ queryAll }: Database) {
  return {
    /** Replaces the feedback on the message at a position. Null removes it. */
    set(pos: number, feedback: Feedback | null): void {
      queryAll("UPDATE transcript SET feedback = ? WHERE pos = ?", toJsonColumn(feedback), pos)
    },

    /** Returns the feedback on up to `limit` answers, oldest answer first. Cost: one row per answer. */
    list(limit: number): AnswerFeedback[] {
      const query = "SELECT id, feedback FROM transcript WHERE feedback IS NOT NULL ORDER BY pos LIMIT ?"
      return queryAll(query, limit).flatMap((row) => {
        const feedback = parseJsonColumn<Feedback>(row["feedback"])
        return feedback === null ? [] : [{ message: columnToText(row["id"]), ...feedback }]
      })
    },
  }
}
