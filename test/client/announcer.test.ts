/** announcer.test.ts: the end of each answer is announced, even if its text equals that of the previous answer. */

import { expect, test } from "vitest"
import { announceAnswerEnd, announcement } from "../../client/ui/announcer.ts"

test("[PG17] two answers with the same text are both announced, and an answer that is waiting isn't announced as ended", () => {
  const announced: string[] = []
  announcement.subscribe((text) => void announced.push(text))
  for (const status of ["waiting", "cancelled", "completed", "completed"] as const)
    announceAnswerEnd(status, "same words")
  // The first answer had ended before the conversation was opened.
  const [, ...texts] = announced
  expect(texts.map((text) => text.trim())).toEqual(["Response stopped.", "same words", "same words"])
  expect(new Set(texts).size).toBe(texts.length)
})
