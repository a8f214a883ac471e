/**
 * history-fixtures.ts: parses test/shared/history/*.txt, and runs another system's file through the steps of an import.
 *
 * Above `---` are comments (the rule ids, `source:`, `producer:` with its heading in docs/import.md, and `type Name:
 * fields…` as the source declares them) and then the file. Below are the messages as they are shown, and the counted
 * kinds.
 */

import { addTotals } from "../../shared/ingest/history/kind-counts.ts"
import { createAssembler } from "../../shared/ingest/assembler.ts"
import { createHistoryReader } from "../../shared/ingest/history/history-reader.ts"
import { parseJson } from "../../shared/json.ts"
import { type Message, listCalls } from "../../shared/protocol/message.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { segmentsOf } from "../../shared/segment/segmenter.ts"
import { formatTime } from "../../worker/platform/iso-time.ts"

export interface HistoryFixture {
  readonly name: string
  readonly title: string
  readonly producer: string
  readonly source: string
  /** All fields that the source's types declare. */
  readonly fields: readonly string[]
  /** The text of the other system's file. */
  readonly body: string
  readonly expected: readonly string[]
}

export function parseHistoryFixture(name: string, text: string): HistoryFixture {
  const [above = "", below = ""] = text.split(/^---$/m)
  const lines = above.split("\n")
  const comments = lines.filter((line) => line.startsWith("#")).map((line) => line.slice(1).trim())
  const findValue = (key: string): string =>
    comments.find((line) => line.startsWith(`${key}: `))?.slice(key.length + 2) ?? ""
  const types = comments.flatMap((line) => /^type [^:]+: (.*)$/.exec(line)?.[1]?.split(" ") ?? [])
  return {
    name,
    title: comments[0] ?? "",
    producer: findValue("producer"),
    source: findValue("source"),
    fields: [...new Set(types)],
    body: lines
      .filter((line) => !line.startsWith("#"))
      .join("\n")
      .trim(),
    expected: below.split("\n").filter((line) => line !== ""),
  }
}

/**
 * Returns the JSON values of a file, which has one value per line or is a single document. A document that is a list is
 * split into its entries.
 */
export function listValues(body: string): unknown[] {
  const whole = parseJson(body)
  if (whole !== undefined) return Array.isArray(whole) ? [...whole] : [whole]
  return body.split("\n").map((line) => {
    const value = parseJson(line)
    if (value === undefined) throw new Error(`not JSON: ${line}`)
    return value
  })
}

export interface ImportedHistory {
  readonly messages: readonly Message[]
  readonly records: readonly StreamRecord[]
  readonly kinds: Readonly<Record<string, number>>
  /** Number of values that neither a mapper nor the parser accepts. */
  readonly refused: number
  /** Counts of dropped content, by kind. */
  readonly lost: Readonly<Record<string, number>>
}

/** Imports the values of a file in two parts. The second part begins with the value at index `cutAt`. */
export function importValues(values: readonly unknown[], cutAt = values.length): ImportedHistory {
  const records: StreamRecord[] = []
  const kinds: Record<string, number> = {}
  let refused = 0
  for (const part of [values.slice(0, cutAt), values.slice(cutAt)]) {
    const isFirst = part.length === 0 || part[0] === values[0]
    const reader = createHistoryReader(formatTime, isFirst)
    for (const [index, value] of part.entries()) {
      const read = reader.readValue(value, isFirst ? `${index + 1}` : `2-${index + 1}`)
      const own = read ?? [value]
      for (const json of own) {
        const record = parseRecord(parseJson(JSON.stringify(json)))
        if (record.ok) records.push(record.value)
        else refused += 1
      }
    }
    records.push(...reader.end())
    for (const [kind, count] of Object.entries(reader.countKinds())) kinds[kind] = (kinds[kind] ?? 0) + count
  }
  return { ...assemble(records), records, kinds, refused }
}

function assemble(records: readonly StreamRecord[]): Pick<ImportedHistory, "messages" | "lost"> {
  const assembler = createAssembler(new Set(), [], false)
  const finished = [...records.flatMap((record, n) => assembler.addRecord(record, n + 1)), ...assembler.end()]
  const lost = addTotals(finished.map((item) => item.lost))
  return { messages: finished.flatMap((item) => (item.kind === "message" ? [item.message] : [])), lost }
}

/** Prints the messages as they are shown, one line per segment. */
export function printHistory({ messages, kinds, refused, lost }: ImportedHistory): string[] {
  return [
    ...messages.flatMap(printMessage),
    ...Object.entries(kinds).map(([kind, count]) => `kind ${kind} ${count}`),
    ...(refused === 0 ? [] : [`refused ${refused}`]),
    ...Object.entries(lost).map(([kind, count]) => `lost ${kind} ${count}`),
  ]
}

function printMessage(message: Message): string[] {
  if (message.role !== "assistant") return [`${message.role} ${JSON.stringify(message.words)}`]
  const end =
    message.status === "completed" ? "" : ` ${message.status}${message.reason === null ? "" : ` ${message.reason}`}`
  const steps = message.parts.map((part) => part.step)
  return [
    `answer ${Math.max(0, ...steps)}${end}`,
    ...segmentsOf(message).map((segment) => printSegment(segment, message)),
  ]
}

function printSegment(segment: Segment, message: Message): string {
  switch (segment.type) {
    case "text":
    case "thinking":
      return `  ${segment.type} ${JSON.stringify(segment.content)}`
    case "rich":
      return `  card ${segment.tag} ${JSON.stringify(segment.payload)} ${JSON.stringify(segment.synthesis)}`
    case "tool": {
      const { name, args, status, result, error, truncated } = segment
      const call = listCalls(message).find(({ call_id }) => call_id === segment.call_id)
      const cut = truncated && `of ${truncated.lines} lines ${truncated.bytes} bytes`
      const card = call?.card && `cues ${call.card}`
      return [
        "  tool",
        name,
        args.includes("\n") ? JSON.stringify(args) : args,
        status,
        result && JSON.stringify(result),
        error && `(${error.message})`,
        cut,
        card,
      ]
        .filter((word) => word)
        .join(" ")
    }
    default:
      return `  ${segment.type} ${JSON.stringify(segment)}`
  }
}

/** Fields whose content is defined by the tool or the program, and not by the format. */
const FREE_FIELDS: ReadonlySet<string> = new Set([
  "tools",
  "arguments",
  "args",
  "usage",
  "modelUsage",
  "git",
  "sandbox_policy",
  "snapshot",
  "thinkingMetadata",
  "ghost_commit",
  "data",
  "env",
  "account",
  "operation",
  "container",
  "event",
  "assistantMessageEvent",
])

/** Fields that contain an object whose keys are ids. */
const KEYED_FIELDS: ReadonlySet<string> = new Set(["mapping", "toolResults"])

/** Returns the names of all fields in a value, including nested ones. */
export function listKeys(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listKeys)
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (FREE_FIELDS.has(key) || (key === "input" && !Array.isArray(inner))) return [key]
    if (KEYED_FIELDS.has(key) && !Array.isArray(inner)) return [key, ...Object.values(inner ?? {}).flatMap(listKeys)]
    return [key, ...listKeys(inner)]
  })
}
