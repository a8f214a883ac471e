/** legacy.test.ts: tests that every golden transcript produces the same segments in another system's record format. */

import { expect, test } from "vitest"
import { createAssembler } from "../../shared/ingest/assembler.ts"
import type { Message, Part } from "../../shared/protocol/message.ts"
import { parseRecord } from "../../shared/protocol/record.ts"
import { segmentsOf } from "../../shared/segment/segmenter.ts"
import { foldGolden, createQuestion } from "../support/golden-messages.ts"
import { readGoldens } from "../support/golden-files.ts"
import { legacyRecordsOf } from "../support/other-systems.ts"

test.each(readGoldens().map((golden) => [golden.name, golden] as const))("[RE9] [RE29] %s", (_name, golden) => {
  const answer = ofOthers(foldGolden(golden, "a1", "q1"))
  const assembler = createAssembler()
  const lines = legacyRecordsOf(createQuestion("q1", golden.title), answer).map((record) => JSON.stringify(record))
  const taken = lines.flatMap((line, n) => {
    const record = parseRecord(JSON.parse(line))
    if (!record.ok) throw new Error(line)
    return assembler.addRecord(record.value, n)
  })
  const messages = [...taken, ...assembler.end()].flatMap((one): Message[] =>
    one.kind === "message" ? [one.message] : [],
  )
  const back = messages.find(({ role }) => role === "assistant")
  expect(back?.status).toBe(answer.status)
  expect(back && segmentsOf(back)).toEqual(segmentsOf(answer))
})

/** Removes our assets and grants from a message, because other systems don't have them. */
function ofOthers(message: Message): Message {
  const parts = message.parts.map((part): Part => {
    if (part.type === "tool_call") return { ...part, call: { ...part.call, media: [] } }
    if (part.type !== "text") return part
    const { grants: _, ...bare } = part
    return bare
  })
  return { ...message, parts }
}
