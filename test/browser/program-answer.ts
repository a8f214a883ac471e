/**
 * program-answer.ts: an answer written by a program, which ends only when a test ends it, however slow the machine is.
 */

import type { Cuecard } from "cuecard/testing"
import { expect } from "vitest"

/** The first part of a program's answer, and the rest of it. */
export const START_OF_ANSWER = [
  { n: 1, type: "thinking_delta", delta: "Which build failed?" },
  { n: 2, type: "tool_call", callId: "c1", toolName: "ci_status", arguments: '{"branch":"main"}' },
  { n: 3, type: "text_delta", delta: "Looking at the build" },
]
export const END_OF_ANSWER = [
  { n: 4, type: "text_delta", delta: " of **main**." },
  { n: 5, type: "tool_result", callId: "c1", ok: true, result: { status: "red" } },
  { n: 6, type: "text_delta", delta: " It is red." },
  { n: 7, type: "assistant_message", text: "", status: "completed" },
]

/** Adds records to a program's answer in a session. */
export async function postRecords(cuecard: Cuecard, session: string, records: readonly object[]): Promise<void> {
  const token = await cuecard.tokenFor({ scope: "external", session })
  const response = await fetch(`${cuecard.url}/external/sessions/${session}/events?responseId=job`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: records.map((record) => `${JSON.stringify(record)}\n`).join(""),
  })
  expect(response.status).toBe(200)
}
