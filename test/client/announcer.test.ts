/** announcer.test.ts: the end of each answer is announced, even if its text equals the previous one. */

import { signal } from "@preact/signals"
import { expect, test } from "vitest"
import { announceAnswerEnd } from "../../client/ui/announcer.ts"

test("[PG17] two answers with the same text are announced twice", () => {
  const spoken = signal("")
  const announced: string[] = []
  spoken.subscribe((text) => void announced.push(text))
  for (const status of ["waiting", "waiting", "waiting", "cancelled", "completed", "completed"] as const)
    announceAnswerEnd(spoken, status, "same words")
  const waits = "Your input is needed."
  expect(announced.map((text) => text.trim())).toEqual([
    "",
    waits,
    waits,
    waits,
    "Response stopped.",
    "same words",
    "same words",
  ])
})
