/**
 * record-writer.ts: writes a program's events as stream-event records.
 *
 * line of a program → mapper (claude, codex, pi) → WRITER → records → POST /external/…/events
 * The answer ends when the program ends, because some programs continue after an event that looks like the end. Pure.
 */

import { cutText } from "../text/cut-text.ts"
import { isJsonObject } from "../json.ts"
import { type TurnFault, turnFaultToText } from "../fault.ts"
import { parseJsonToDepth } from "../json-depth.ts"
import { MAX_ARGS_CHARS, MAX_RECORD_BYTES, MAX_RESULT_BYTES } from "../limits.ts"
import type { StreamRecord } from "../protocol/record.ts"
import { countUtf8Bytes, type TextSize } from "../truncate.ts"

export interface Mapper {
  /** Returns the records for one line of the program's output; none if it has no visible content. */
  mapLine(line: string): StreamRecord[]
  /** Does what `mapLine` does, for a line that is already parsed. */
  mapEvent(event: Fields): StreamRecord[]
  /** Ends the answer when the program has ended. `exit` is its exit code, or null if unknown, as for a file. */
  end(exit: number | null): StreamRecord[]
  /**
   * The unknown types of events, items and blocks, with their counts. Unknown events are skipped; unknown items and
   * blocks are shown as text.
   */
  readonly unknown: ReadonlyMap<string, number>
}

export interface Outcome {
  readonly status: "completed" | "failed" | "interrupted"
  readonly reason: TurnFault | null
  /**
   * The program's final text or error. It is written if a completed answer is empty, or if a failed answer doesn't end
   * with it.
   */
  readonly text?: string
}

export type CallError = { readonly code: string; readonly message: string }
export type Kind = "text" | "thinking"
export type Fields = Readonly<Record<string, unknown>>

/** Maximum size of a result as escaped JSON, in bytes. This limit leaves room for the other fields of the record. */
const MAX_ESCAPED_BYTES = MAX_RECORD_BYTES - 16 * 1024

/** Maximum length of one record's delta, in UTF-16 code units. */
const MAX_DELTA_CHARS = 16 * 1024

export function toFields(value: unknown): Fields {
  return isJsonObject(value) ? value : {}
}

export function toFieldsList(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** Collects the records of one answer. Text that arrives in deltas and then again as a whole is written only once. */
export class RecordWriter {
  /** The types that no mapper handles, with their counts. */
  readonly unknown = new Map<string, number>()
  readonly #countedKeys = new Set<string>()
  /** The part of each growing text that is already written, by its key. */
  readonly #textByKey = new Map<string, string>()
  /** The names of the calls, by id. */
  readonly #calls = new Map<string, string>()
  readonly #settledCalls = new Set<string>()
  #records: StreamRecord[] = []
  #step = 0
  #outcome: Outcome | null = null
  /** All text of the answer, to recognise a closing message that repeats it. */
  #writtenText = ""

  /** Returns the records since the last call. */
  drainRecords(): StreamRecord[] {
    const drained = this.#records
    this.#records = []
    return drained
  }

  /** Begins the step of the next model call. */
  nextStep(): void {
    this.#step += 1
  }

  writeText(kind: Kind, delta: string): void {
    for (const piece of splitDelta(delta)) this.#write({ type: `${kind}_delta`, delta: piece })
    if (kind === "text") this.#writtenText += delta
  }

  closePart(kind: Kind): void {
    this.#write({ type: `${kind}_done` })
  }

  /** Writes a delta of text that the program will later repeat as a whole. */
  appendDelta(key: string, kind: Kind, delta: string): void {
    this.#textByKey.set(key, (this.#textByKey.get(key) ?? "") + delta)
    this.writeText(kind, delta)
  }

  /** Writes the part of the text so far (`whole`) that is not written yet. */
  appendWhole(key: string, kind: Kind, whole: string): void {
    this.writeText(kind, this.#takeUnwritten(key, whole))
  }

  /** Returns the part of growing text that is already written. */
  getKnownText(key: string): string | undefined {
    return this.#textByKey.get(key)
  }

  hasCall(callId: string): boolean {
    return this.#calls.has(callId)
  }

  writeCall(callId: string, toolName: string, args: unknown): void {
    if (this.#calls.has(callId)) return
    this.#calls.set(callId, toolName)
    const text = typeof args === "string" ? args : (JSON.stringify(args ?? {}) ?? "{}")
    this.#write({ type: "tool_call_start", callId, toolName, arguments: cutText(text, MAX_ARGS_CHARS) })
  }

  /** Writes a call again, with information that was previously unknown. */
  fillCall(callId: string, toolName: string, args: string): void {
    this.#write({ type: "tool_call", callId, toolName, arguments: cutText(args, MAX_ARGS_CHARS) })
  }

  writeOutput(callId: string, delta: string): void {
    if (!this.#calls.has(callId) || this.#settledCalls.has(callId)) return
    for (const piece of splitDelta(delta)) this.#write({ type: "tool_output_delta", callId, delta: piece })
  }

  /**
   * Does what `appendWhole` does, for a call's output. If the program has dropped the beginning of the output, nothing
   * more is written, and only the result shows the rest.
   */
  writeWholeOutput(callId: string, whole: string): void {
    this.writeOutput(callId, this.#takeUnwritten(`output ${callId}`, whole))
  }

  /**
   * Writes the result of a call. Only a call's first result is used. `size` is the size of the whole result, if the
   * program shortened it.
   */
  writeResult(callId: string, ok: boolean, text: string, error?: CallError, size: TextSize | null = null): void {
    if (this.#settledCalls.has(callId)) return
    this.#settledCalls.add(callId)
    if (isResultTooLarge(text)) {
      const tooLargeError = { code: "tool_result_too_large", message: turnFaultToText("tool_result_too_large") }
      return this.#write({ type: "tool_result", callId, ok: false, error: tooLargeError })
    }
    const toolName = this.#calls.get(callId)
    this.#write({
      type: "tool_result",
      callId,
      ...(toolName === undefined ? {} : { toolName }),
      ok,
      result: text,
      ...(ok ? {} : { error: error ?? { code: "tool_failed", message: readFirstLine(text) } }),
      ...(size === null ? {} : { outputSize: size }),
    })
  }

  /** Records the outcome that the program reports. The last report is used. */
  setOutcome(reported: Outcome | null): void {
    this.#outcome = reported
  }

  /** Counts something that no mapper handles. For each non-empty key, it is counted only once. */
  countUnknown(type: string, key = ""): void {
    if (key !== "" && this.#countedKeys.has(key)) return
    this.#countedKeys.add(key)
    this.unknown.set(type, (this.unknown.get(type) ?? 0) + 1)
  }

  /** Returns the last records. A program with a non-zero exit code has failed, even if it reported success. */
  finishAnswer(exit: number | null): StreamRecord[] {
    const { status, reason, text = "" } = resolveOutcome(this.#outcome, exit)
    const written = this.#writtenText
    const isWritten = status === "completed" ? written.trim() !== "" : written.trimEnd().endsWith(text.trim())
    if (text !== "" && !isWritten) {
      this.closePart("text")
      this.writeText("text", text)
      this.closePart("text")
    }
    this.#write({ type: "assistant_message", text: "", status, reason })
    return this.drainRecords()
  }

  #write(record: StreamRecord): void {
    this.#records.push(this.#step === 0 ? record : { ...record, step: this.#step })
  }

  /**
   * Returns the part of `whole` that is not written yet; an empty string if `whole` does not begin with what is already
   * written.
   */
  #takeUnwritten(key: string, whole: string): string {
    const known = this.#textByKey.get(key) ?? ""
    if (!whole.startsWith(known)) return ""
    this.#textByKey.set(key, whole)
    return whole.slice(known.length)
  }
}

function splitDelta(delta: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at < delta.length; at += MAX_DELTA_CHARS) pieces.push(delta.slice(at, at + MAX_DELTA_CHARS))
  return pieces
}

/**
 * Returns whether a result exceeds a limit. Escaped as JSON, it can be six times as long, and the size of its record is
 * also limited.
 */
function isResultTooLarge(text: string): boolean {
  return countUtf8Bytes(text) > MAX_RESULT_BYTES || countUtf8Bytes(JSON.stringify(text)) > MAX_ESCAPED_BYTES
}

function resolveOutcome(reported: Outcome | null, exit: number | null): Outcome {
  if (reported !== null && reported.status !== "completed") return reported
  if (exit !== null && exit !== 0) return { status: "failed", reason: "producer_failed" }
  return reported ?? { status: "interrupted", reason: "producer_gone" }
}

function readFirstLine(text: string): string {
  return text.trim().split("\n", 1)[0]?.slice(0, 200) ?? ""
}

/** Creates a mapper that calls `onEvent` for each line that is a JSON object, and counts the other lines as unknown. */
export function createMapper(writer: RecordWriter, onEvent: (event: Fields) => void): Mapper {
  const mapEvent = (event: Fields): StreamRecord[] => {
    onEvent(event)
    return writer.drainRecords()
  }
  return {
    unknown: writer.unknown,
    mapLine(line) {
      if (line.trim() === "") return []
      const event = parseJsonToDepth(line)
      if (isJsonObject(event)) return mapEvent(event)
      writer.countUnknown("not JSON")
      return writer.drainRecords()
    },
    mapEvent,
    end: (exit) => writer.finishAnswer(exit),
  }
}
