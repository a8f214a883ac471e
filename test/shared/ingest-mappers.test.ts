/**
 * ingest-mappers.test.ts: tests how the mappers for coding agents treat whole texts, unknown events and hostile lines.
 */

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createAssembler } from "../../shared/ingest/assembler.ts"
import { MAX_RECORD_BYTES } from "../../shared/limits.ts"
import { listCalls, type Message } from "../../shared/protocol/message.ts"
import { createClaudeMapper } from "../../shared/ingest/claude-stream.ts"
import { createCodexMapper } from "../../shared/ingest/codex-stream.ts"
import { createPiMapper } from "../../shared/ingest/pi-stream.ts"
import type { Mapper } from "../../shared/ingest/record-writer.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { cutsOf, assertProperty } from "../support/seeded.ts"

const FOLDER = join(import.meta.dirname, "ingest")
const MAPPERS: Record<string, () => Mapper> = {
  claude: createClaudeMapper,
  codex: createCodexMapper,
  pi: createPiMapper,
}

const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".jsonl"))
  .map((name) => name.replace(".jsonl", ""))

function linesOf(name: string): string[] {
  return readFileSync(join(FOLDER, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n")
}

/** Returns the imported answer for records that are first converted to JSON and back. */
function answerOf(records: readonly StreamRecord[]): Message {
  const assembler = createAssembler()
  const taken = records.flatMap((record, n) => {
    const read = parseRecord(JSON.parse(JSON.stringify({ ...record, responseId: "r1" })))
    if (!read.ok) throw new Error(JSON.stringify([record, read.fault]))
    return assembler.addRecord(read.value, n)
  })
  const [one] = [...taken, ...assembler.end()]
  if (one?.kind !== "message") throw new Error("no message")
  return one.message
}

/** Returns a summary of an answer, one line per segment. */
function printMessage(message: Message, unknown: Mapper["unknown"] = new Map()): string {
  const steps = message.parts.map((part) => part.step)
  const lines = messageToWire(message).segments.map((segment) => {
    switch (segment.type) {
      case "text":
      case "thinking":
        return `${segment.type} ${JSON.stringify(segment.content)}`
      case "tool": {
        const { name, args, status, output, result, error, truncated } = segment
        const nestedText = output === undefined ? "" : ` output ${JSON.stringify(output)}`
        const came = result === undefined ? "" : ` result ${JSON.stringify(result)}`
        return `tool ${name} ${JSON.stringify(args)} ${status}${nestedText}${came}${error ? ` ${error.code}: ${error.message}` : ""}${truncated ? ` of ${truncated.lines} lines ${truncated.bytes} bytes` : ""}`
      }
      default:
        return segment.type
    }
  })
  const passed = [...unknown].map(([type, n]) => `unknown ${type} ${n}`)
  const end = `end ${message.status}${message.reason === null ? "" : ` ${message.reason}`}`
  return `${[...lines, end, `steps ${steps.join(" ")}`, ...passed].join("\n")}\n`
}

function mapLines(mapper: Mapper, lines: readonly string[], exit: number | null = null): StreamRecord[] {
  return [...lines.flatMap((line) => mapper.mapLine(line)), ...mapper.end(exit)]
}

describe("a mapper", () => {
  const shownOf = (make: () => Mapper, events: readonly object[]): string => {
    const mapper = make()
    return printMessage(
      answerOf(
        mapLines(
          mapper,
          events.map((event) => JSON.stringify(event)),
          0,
        ),
      ),
      mapper.unknown,
    )
  }
  const DONE = { type: "result", subtype: "success" }
  const createWholeMessage = (id: string, text: string) => ({
    type: "assistant",
    message: { id, content: [{ type: "text", text }] },
  })
  const streamMessage = (id: string, ...deltas: string[]) => [
    { type: "stream_event", event: { type: "message_start", message: { id } } },
    { type: "stream_event", event: { type: "content_block_start", index: 0, content_block: { type: "text" } } },
    ...deltas.map((text) => ({
      type: "stream_event",
      event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    })),
  ]

  test("[PI2] a whole text that differs from its deltas isn't repeated; if the program stops streaming, the whole text continues the streamed text", () => {
    expect(
      shownOf(createClaudeMapper, [...streamMessage("m1", "Hel", "lo "), createWholeMessage("m1", "Hello"), DONE]),
    ).toContain('text "Hello"\nend completed')
    const fallen = shownOf(createClaudeMapper, [
      ...streamMessage("m1", "Hel"),
      createWholeMessage("m2", "Hello there"),
      DONE,
    ])
    expect(fallen).toContain('text "Hello there"\nend completed')
    const other = shownOf(createClaudeMapper, [
      ...streamMessage("m1", "Hel"),
      createWholeMessage("m2", "Good day"),
      DONE,
    ])
    expect(other).toContain("Good day")
  })

  test("[PI8] calls of subagents, even nested ones, become output of the call that started them", () => {
    const createCall = (id: string, name: string, parent: string | null) => ({
      type: "assistant",
      parent_tool_use_id: parent,
      message: { id: `m-${id}`, content: [{ type: "tool_use", id, name, input: {} }] },
    })
    const nestedText = (parent: string, text: string) => ({
      ...createWholeMessage("m9", text),
      parent_tool_use_id: parent,
    })
    const streamRecords = [
      createCall("a", "Task", null),
      createCall("b", "Task", "a"),
      nestedText("a", "one"),
      nestedText("b", "deep"),
      DONE,
    ]
    expect(shownOf(createClaudeMapper, streamRecords)).toContain('output "[Task]\\none\\ndeep')
  })

  test("[PI7] an unknown event is counted once, even if it never ends", () => {
    const system = [{ type: "system", subtype: "init" }, { type: "system", subtype: "compact_boundary" }, DONE]
    expect(shownOf(createClaudeMapper, system)).toContain("unknown system compact_boundary 1")
    const item = { id: "i1", type: "hologram" }
    const items = [{ type: "item.started", item }, { type: "item.updated", item }, { type: "turn.completed" }]
    expect(shownOf(createCodexMapper, items)).toContain("unknown item hologram 1")
  })

  test("[PI1] a plan is shown as it progresses", () => {
    const createTodoList = (completed: boolean) => ({ id: "t", type: "todo_list", items: [{ text: "dig", completed }] })
    const events = [
      { type: "item.started", item: createTodoList(false) },
      { type: "item.updated", item: createTodoList(true) },
    ]
    expect(shownOf(createCodexMapper, events)).toContain('output "[ ] dig\\n\\n[x] dig')
  })

  test("[PI3] a result that is too long after escaping becomes a failed call, and its record fits", () => {
    const events = [
      { type: "item.started", item: { id: "c", type: "command_execution", command: "x" } },
      {
        type: "item.completed",
        item: {
          id: "c",
          type: "command_execution",
          status: "completed",
          aggregated_output: "\u0001".repeat(1_000_000),
        },
      },
    ]
    const records = mapLines(
      createCodexMapper(),
      events.map((event) => JSON.stringify(event)),
    )
    expect(records.every((record) => JSON.stringify(record).length < MAX_RECORD_BYTES)).toBe(true)
    expect(listCalls(answerOf(records))[0]?.error?.code).toBe("tool_result_too_large")
  })
})

/** Generates the blocks of a message. */
const blocksArb = fc.array(
  fc.record({ kind: fc.constantFrom("text", "thinking"), words: fc.string({ minLength: 1, maxLength: 40 }) }),
  { minLength: 1, maxLength: 5 },
)

describe("deltas and whole texts", () => {
  test("[PI2] text that arrives in deltas and again as a whole counts once, however it was cut", () => {
    const property = fc.property(
      blocksArb.chain((blocks) => fc.tuple(fc.constant(blocks), fc.tuple(...blocks.map((one) => cutsOf(one.words))))),
      fc.boolean(),
      ([blocks, cuts], stopFirst) => {
        const createMessage = (content: object[]) => ({ type: "assistant", message: { id: "m1", content } })
        const wholes = blocks.map(({ kind, words }) => createMessage([{ type: kind, [kind]: words }]))
        const createEvent = (event: object) => ({ type: "stream_event", event })
        const partial = blocks.flatMap(({ kind }, index) => {
          const deltas = (cuts[index] ?? []).map((cut) => {
            const delta = { type: `${kind}_delta`, [kind]: cut }
            return createEvent({ type: "content_block_delta", index, delta })
          })
          const start = createEvent({ type: "content_block_start", index, content_block: { type: kind } })
          const stop = createEvent({ type: "content_block_stop", index })
          const whole = wholes[index] ?? {}
          return [start, ...deltas, ...(stopFirst ? [stop, whole] : [whole, stop])]
        })
        const begin = createEvent({ type: "message_start", message: { id: "m1" } })
        const printRecords = (events: object[]) => {
          const lines = [...events, { type: "result", subtype: "success" }].map((one) => JSON.stringify(one))
          return printMessage(answerOf(mapLines(createClaudeMapper(), lines)))
        }
        expect(printRecords([begin, ...partial])).toBe(printRecords(wholes))
      },
    )
    assertProperty(property, 2_000)
  })

  test("[PI3] hostile lines never cause an exception, and each of them is counted or reported", () => {
    const lineArb = fc.oneof(fc.string(), fc.json(), fc.constantFrom(...names.flatMap(linesOf)), jsonOf(names))
    for (const make of Object.values(MAPPERS)) {
      assertProperty(
        fc.property(fc.array(lineArb, { maxLength: 12 }), (lines) => {
          expect(mapLines(make(), lines, 0).at(-1)?.type).toBe("assistant_message")
        }),
        1_000,
      )
    }
  })
})

/** Generates recorded lines in which one value is replaced by a random value. */
function jsonOf(files: readonly string[]): fc.Arbitrary<string> {
  const known = files.flatMap(linesOf).filter((line) => line.startsWith("{") && line.endsWith("}"))
  return fc.tuple(fc.constantFrom(...known), fc.nat(), fc.jsonValue()).map(([line, at, value]) => {
    const spots = [...line.matchAll(/:("(?:[^"\\]|\\.)*"|null|true|false|[\d.]+)/g)]
    const spot = spots[at % Math.max(spots.length, 1)]
    if (spot?.[1] === undefined) return line
    const from = spot.index + 1
    return line.slice(0, from) + JSON.stringify(value) + line.slice(from + spot[1].length)
  })
}
