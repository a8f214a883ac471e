/** ingest.test.ts: tests that recorded streams of programs produce the answers that are stored beside them. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createAssembler } from "../../shared/ingest/assembler.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { interpretRecord } from "../../shared/ingest/external-record.ts"
import { createIntake } from "../../shared/ingest/intake.ts"
import { listCalls, fold, type Message, createMessage } from "../../shared/protocol/message.ts"
import { createClaudeMapper } from "../../shared/ingest/claude-stream.ts"
import { createCodexMapper } from "../../shared/ingest/codex-stream.ts"
import { createPiMapper } from "../../shared/ingest/pi-stream.ts"
import type { Mapper } from "../../shared/ingest/record-writer.ts"
import { StreamedText } from "../../shared/ingest/whole-text.ts"
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

function mapperFor(name: string): Mapper {
  const make = MAPPERS[name.split("-")[0] ?? ""]
  if (make === undefined) throw new Error(`no mapper for ${name}`)
  return make()
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

describe("recorded streams", () => {
  test.each(names)("[PI1] %s", (name) => {
    const mapper = mapperFor(name)
    const answer = printMessage(answerOf(mapLines(mapper, linesOf(name))), mapper.unknown)
    const file = join(FOLDER, `${name}.txt`)
    // UPDATE=1 writes the expected file. Review it before you commit it.
    if (process.env["UPDATE"] === "1") writeFileSync(file, answer)
    expect(answer).toBe(readFileSync(file, "utf8"))
  })

  test.each(names)("[PI2] %s, cut after any line, shows a prefix of the answer and ends", (name) => {
    const lines = linesOf(name)
    const whole = answerOf(mapLines(mapperFor(name), lines))
    for (let at = 0; at < lines.length; at++) {
      const message = answerOf(mapLines(mapperFor(name), lines.slice(0, at), 1))
      expect(["failed", "interrupted"]).toContain(message.status)
      expect(listCalls(message).length).toBeLessThanOrEqual(listCalls(whole).length)
      expect(listCalls(message).every((call) => call.status !== "running")).toBe(true)
    }
  })

  test("[PI3] a non-zero exit code means a failure, and zero without a reported end means an early end", () => {
    const endOf = (lines: readonly string[], exit: number | null) => {
      const { status, reason } = answerOf(mapLines(createClaudeMapper(), lines, exit))
      return [status, reason]
    }
    const whole = linesOf("claude-tools")
    expect(endOf(whole, 0)).toEqual(["completed", null])
    expect(endOf(whole, 1)).toEqual(["failed", "producer_failed"])
    expect(endOf(whole.slice(0, 4), 0)).toEqual(["interrupted", "producer_gone"])
    expect(endOf(whole.slice(0, 4), 2)).toEqual(["failed", "producer_failed"])
    expect(endOf([], 127)).toEqual(["failed", "producer_failed"])
    expect(endOf(linesOf("claude-max-turns"), 1)).toEqual(["failed", "step_limit"])
  })
})

/** Returns the live answer for records that an external producer sends. */
function liveOf(records: readonly StreamRecord[]): Message {
  const intake = createIntake()
  let message = createMessage({ id: "r1", role: "assistant", exchange_id: "r1", timestamp: "1970-01-01T00:00:00.000Z" })
  const streamed = new StreamedText()
  const feedEvent = (event: TurnEvent): void => {
    streamed.addEvent(event)
    for (const clean of intake.cleanEvent(event)) message = fold(message, clean)
  }
  for (const record of records) {
    const interpreted = interpretRecord(message, streamed, record)
    if (interpreted.do === "refuse") throw new Error(JSON.stringify([record, interpreted.fault]))
    if (interpreted.do === "say" || interpreted.do === "end") interpreted.events.forEach(feedEvent)
    if (interpreted.do === "output")
      feedEvent({ type: "tool_output_delta", call_id: interpreted.call.call_id, delta: interpreted.delta })
    if (interpreted.do === "end")
      feedEvent({ type: "end", status: interpreted.status, reason: interpreted.reason, metrics: null })
  }
  return message
}

describe("live and imported", () => {
  test.each(names)("[PI1] %s gives the same answer live, whole and as an import", (name) => {
    const records = mapLines(mapperFor(name), linesOf(name))
    const [live, imported] = [liveOf(records), answerOf(records)]
    expect([live.status, live.reason]).toEqual([imported.status, imported.reason])
    expect(messageToWire(live).segments).toEqual(messageToWire(imported).segments)
    // Don't compare steps if the program reports none, because the server counts them in that case.
    if (records.every(({ step }) => step === undefined)) return
    expect(live.parts.map(({ step }) => step)).toEqual(imported.parts.map(({ step }) => step))
  })
})

/**
 * Generates the parts of a response, with a tool between them. Each part is cut anywhere, and loses some deltas at its
 * end.
 */
const responseArb = fc
  .array(fc.stringMatching(/^[a-z<>*` .]{0,12}[a-z]$/), { minLength: 1, maxLength: 4 })
  .chain((texts) => fc.tuple(fc.constant(texts), fc.tuple(...texts.map(cutsOf)), fc.nat(3)))

describe("text that arrives as a whole", () => {
  const shownTextOf = (message: Message): string =>
    message.parts.map((part) => (part.type === "text" ? part.text : "|")).join("")

  test("[IR3] counts once, live and imported, wherever the response was cut and whatever it lost at its end", () => {
    const property = fc.property(responseArb, fc.boolean(), ([texts, cuts, lost], isWholeMessage) => {
      const streamed = texts.flatMap((_, n): StreamRecord[] => [
        ...(n === 0 ? [] : [{ type: "tool_result" as const, callId: `c${n}`, ok: true, result: "x" }]),
        ...(cuts[n] ?? []).map((delta) => ({ type: "text_delta" as const, delta })),
      ])
      const kept = streamed.filter((record, at) => {
        return (
          record.type !== "text_delta" || streamed.slice(at).filter(({ type }) => type === "text_delta").length > lost
        )
      })
      const text = texts.join("")
      const end: StreamRecord = { type: "assistant_message", text: isWholeMessage ? text : "" }
      const records: StreamRecord[] = [...kept, ...(isWholeMessage ? [] : [{ type: "text_done" as const, text }]), end]
      const [live, imported] = [liveOf(records), answerOf(records)]
      expect(messageToWire(live).segments).toEqual(messageToWire(imported).segments)
      const lettersOf = (message: Message): string => shownTextOf(message).replace(/[^a-z]/g, "")
      if (!/[<>*`]/.test(text)) expect(lettersOf(live)).toBe(text.replace(/[^a-z]/g, ""))
    })
    assertProperty(property, 5_000)
  })

  test("[IR3] delta A, tool, text_done A shows A once, and a longer text_done completes the text", () => {
    const call: StreamRecord = { type: "tool_result", callId: "c1", ok: true, result: "x" }
    const printRecords = (...texts: StreamRecord[]): string[] => {
      const records: StreamRecord[] = [...texts, { type: "assistant_message", text: "" }]
      const shown = [liveOf(records), answerOf(records)].map(shownTextOf)
      expect(shown[0]).toBe(shown[1])
      return shown.slice(0, 1)
    }
    const createDelta = (words: string): StreamRecord => ({ type: "text_delta", delta: words })
    const createDone = (text: string): StreamRecord => ({ type: "text_done", text })
    expect(printRecords(createDelta("A"), call, createDone("A"))).toEqual(["A|"])
    expect(printRecords(createDelta("A"), call, createDelta("B"), createDone("AB"))).toEqual(["A|B"])
    expect(printRecords(createDelta("A"), call, createDelta("B"), createDone("B"))).toEqual(["A|B"])
    expect(printRecords(createDelta("A "), call, createDone("A and B"))).toEqual(["A |and B"])
    expect(printRecords(createDone("A"), call, createDone("A and B"))).toEqual(["A| and B"])
    expect(printRecords(createDone("A"), call, createDone("B"))).toEqual(["A|B"])
  })
})

describe("text that lost parts during streaming", () => {
  const text = (delta: string): StreamRecord => ({ type: "text_delta", delta })
  const thinking = (delta: string): StreamRecord => ({ type: "thinking_delta", delta })
  const createFinalRecord = (texts: object): StreamRecord => ({ type: "assistant_message", text: "", ...texts })
  const textsOf = ({ parts }: Message): string[] => parts.map((part) => (part.type === "tool_call" ? "" : part.text))
  const createDoneRecord = (whole: string): StreamRecord => ({ type: "text_done", text: whole })
  const whole = "Hello world, this is fine and more words here."
  const lost = [text("Hello wo"), text(" fine and more words here.")]

  test.each([
    ["a gap from the text", [...lost, createDoneRecord(whole), createFinalRecord({})], [whole]],
    ["a gap from the end", [...lost, createFinalRecord({ text: whole })], [whole]],
    ["a gap from both", [...lost, createDoneRecord(whole), createFinalRecord({ text: whole })], [whole]],
    [
      "a long beginning from the text",
      [text("end."), createDoneRecord("A long text and its end.")],
      ["A long text and its end."],
    ],
    [
      "a long beginning from the end",
      [text("end."), createFinalRecord({ text: "A long text and its end." })],
      ["A long text and its end."],
    ],
    ["the end of thinking", [thinking("abc"), createFinalRecord({ thinkingText: "abcdef" })], ["abcdef"]],
    [
      "thinking before text",
      [thinking("abc"), text("Hi"), createFinalRecord({ text: "Hi!", thinkingText: "abcdef" })],
      ["abcdef", "Hi!"],
    ],
    [
      "the last of two parts",
      [
        text("One. "),
        { type: "thinking_start" },
        text("end."),
        createFinalRecord({ text: "One. And then the long end." }),
      ],
      ["One. ", "And then the long end."],
    ],
  ] as const)("[IR3] [IR12] an import restores %s", (_, records, shown) => {
    expect(textsOf(answerOf(records as readonly StreamRecord[]))).toEqual(shown)
  })

  test("[IR3] a live answer restores the end of its thinking", () => {
    expect(textsOf(liveOf([thinking("abc"), createFinalRecord({ thinkingText: "abcdef" })]))).toEqual(["abcdef"])
    expect(
      textsOf(liveOf([thinking("abc"), text("Hi"), createFinalRecord({ text: "Hi!", thinkingText: "abcdef" })])),
    ).toEqual(["abc", "Hi!", "def"])
  })

  test("[RE46] a longer text that differs is counted", () => {
    const assembler = createAssembler()
    const records = [
      text("Something"),
      createDoneRecord("A completely different and longer one."),
      createFinalRecord({}),
    ]
    for (const [n, record] of records.entries()) assembler.addRecord(record, n + 1)
    expect(assembler.end().map((item) => item.lost)).toEqual([{ text: 1 }])
  })
})
