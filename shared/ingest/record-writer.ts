/**
 * record-writer.ts: writes down, as stream-event records, what a program's own events say.
 *
 * line of a program → mapper (claude, codex, pi) → SCRIBE → records → POST /external/…/events
 * What comes in pieces and again as a whole is written once: of a whole that began with what is known only the rest counts.
 * The answer's end waits for the program's own end, since some begin again after what looked like one.
 * Pure.
 */

import type { TurnFault } from "../fault.ts"
import { parseJson } from "../json.ts"
import { MAX_ARGS_CHARS, MAX_RECORD_BYTES, MAX_RESULT_BYTES } from "../limits.ts"
import type { StreamRecord } from "../protocol/record.ts"
import { countUtf8Bytes } from "../truncate.ts"

export interface Mapper {
  /** The records that one line of the program comes to; none for what says nothing to a reader. */
  mapLine(line: string): StreamRecord[]
  /** The program is over: how it exited (null: it did not tell, as with a file). Gives the records that end the answer. */
  end(exit: number | null): StreamRecord[]
  /** Event types that were passed over because nobody knows them, and how often. */
  readonly unknown: ReadonlyMap<string, number>
}

export interface Outcome {
  readonly status: "completed" | "failed" | "interrupted"
  readonly reason: TurnFault | null
  /** What went wrong, in the program's words; shown where it has not been said. */
  readonly words?: string
}

export type Kind = "text" | "thinking"
export type Fields = Readonly<Record<string, unknown>>

/** Longest result as JSON, in bytes: what else stands in its record fits beside it. */
const MAX_ESCAPED_BYTES = MAX_RECORD_BYTES - 16 * 1024

/** Longest delta of one record, in UTF-16 code units: four windows. */
const MAX_DELTA_CHARS = 16 * 1024

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function toFields(value: unknown): Fields {
  return isFields(value) ? value : {}
}

export function toFieldsList(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** The words of a list of content blocks, or of plain content. */
export function contentToText(value: unknown): string {
  if (typeof value === "string") return value
  const texts = toFieldsList(value).map((block) =>
    block["type"] === "text" ? toText(block["text"]) : `[${block["type"]}]`,
  )
  return texts.join("\n")
}

export type RecordWriter = ReturnType<typeof createRecordWriter>

export function createRecordWriter() {
  let records: StreamRecord[] = []
  let step = 0
  let outcome: Outcome | null = null
  /** Everything that was said, for what is told again at the end. */
  let writtenText = ""
  /** What is known of each thing that grows, by its key. */
  const textByKey = new Map<string, string>()
  const calls = new Set<string>()
  const settled = new Set<string>()
  const unknown = new Map<string, number>()
  const countedKeys = new Set<string>()

  const write = (record: StreamRecord): void => void records.push(step === 0 ? record : { ...record, step })
  const writeText = (kind: Kind, delta: string): void => {
    for (let at = 0; at < delta.length; at += MAX_DELTA_CHARS) {
      write({ type: `${kind}_delta`, delta: delta.slice(at, at + MAX_DELTA_CHARS) })
    }
    if (kind === "text") writtenText += delta
  }
  const closePart = (kind: Kind): void => write({ type: `${kind}_done` })
  /** What `whole` has more than is known of it. One that does not begin with that is told by null. */
  const takeUnwritten = (key: string, whole: string): string | null => {
    const known = textByKey.get(key) ?? ""
    if (!whole.startsWith(known)) return null
    textByKey.set(key, whole)
    return whole.slice(known.length)
  }
  const writeCall = (callId: string, toolName: string, args: unknown): void => {
    if (calls.has(callId)) return
    calls.add(callId)
    const text = typeof args === "string" ? args : (JSON.stringify(args ?? {}) ?? "{}")
    write({ type: "tool_call_start", callId, toolName, arguments: text.slice(0, MAX_ARGS_CHARS) })
  }
  const writeOutput = (callId: string, delta: string): void => {
    if (!calls.has(callId) || settled.has(callId)) return
    for (let at = 0; at < delta.length; at += MAX_DELTA_CHARS) {
      write({ type: "tool_output_delta", callId, delta: delta.slice(at, at + MAX_DELTA_CHARS) })
    }
  }

  return {
    unknown,
    writeText,
    closePart,
    call: writeCall,
    writeOutput,
    hasCall: (callId: string): boolean => calls.has(callId),
    drainRecords(): StreamRecord[] {
      const drained = records
      records = []
      return drained
    },
    /** A model call begins. */
    nextStep(): void {
      step += 1
    },
    /** A delta of something that will be told again as a whole. */
    appendDelta(key: string, kind: Kind, delta: string): void {
      textByKey.set(key, (textByKey.get(key) ?? "") + delta)
      writeText(kind, delta)
    },
    /** The whole of it, so far. */
    appendWhole(key: string, kind: Kind, whole: string): void {
      writeText(kind, takeUnwritten(key, whole) ?? "")
    },
    /** What is known of a thing that grows. */
    getKnownText: (key: string): string | undefined => textByKey.get(key),
    /** The output of a call so far; one that lost its head meanwhile is left to the result. */
    writeWholeOutput(callId: string, whole: string): void {
      writeOutput(callId, takeUnwritten(`output ${callId}`, whole) ?? "")
    },
    writeResult(callId: string, ok: boolean, text: string, error?: { code: string; message: string }): void {
      if (settled.has(callId)) return
      settled.add(callId)
      // Escaped it may be six times as long, and a record has a bound of its own.
      if (countUtf8Bytes(text) > MAX_RESULT_BYTES || countUtf8Bytes(JSON.stringify(text)) > MAX_ESCAPED_BYTES) {
        const tooLargeError = { code: "tool_result_too_large", message: "The tool's result is too large to store." }
        return write({ type: "tool_result", callId, ok: false, error: tooLargeError })
      }
      const failure = ok ? {} : { error: error ?? { code: "tool_failed", message: readFirstLine(text) } }
      write({ type: "tool_result", callId, ok, result: text, ...failure })
    },
    /** How the answer stands by what the program says; the last word counts. */
    setOutcome(reported: Outcome | null): void {
      outcome = reported
    },
    /** Something that nobody knows; what has a key counts once, however often it is told. */
    countUnknown(type: string, key = ""): void {
      if (key !== "" && countedKeys.has(key)) return
      countedKeys.add(key)
      unknown.set(type, (unknown.get(type) ?? 0) + 1)
    },
    /** The records of the end. A program that exited badly did not go well, whatever it said. */
    finishAnswer(exit: number | null): StreamRecord[] {
      const { status, reason, words = "" } = resolveOutcome(outcome, exit)
      const isWritten =
        status === "completed" ? writtenText.trim() !== "" : writtenText.trimEnd().endsWith(words.trim())
      if (words !== "" && !isWritten) {
        closePart("text")
        writeText("text", words)
        closePart("text")
      }
      write({ type: "assistant_message", text: "", status, reason })
      return this.drainRecords()
    },
  }
}

function resolveOutcome(reported: Outcome | null, exit: number | null): Outcome {
  if (reported !== null && reported.status !== "completed") return reported
  if (exit !== null && exit !== 0) return { status: "failed", reason: "producer_failed" }
  return reported ?? { status: "interrupted", reason: "producer_gone" }
}

function readFirstLine(text: string): string {
  return text.trim().split("\n", 1)[0]?.slice(0, 200) ?? ""
}

/** A mapper that hands each event to `hear`; a line that is none is counted. */
export function createMapper(writer: RecordWriter, onEvent: (event: Fields) => void): Mapper {
  return {
    unknown: writer.unknown,
    mapLine(line) {
      if (line.trim() === "") return []
      const event = parseJson(line)
      if (isFields(event)) onEvent(event)
      else writer.countUnknown("not JSON")
      return writer.drainRecords()
    },
    end: (exit) => writer.finishAnswer(exit),
  }
}
