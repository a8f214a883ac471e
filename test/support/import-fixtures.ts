/**
 * import-fixtures.ts: transcripts in another system's record format, with the messages that the importer creates from
 * them.
 *
 * A fixture begins with lines that start with `#`. They state what the fixture demonstrates, the project and files
 * whose types it follows (`# source:`), and all keys that the source declares for each record type (`# keys TYPE:`; `*`
 * stands for every record). Then come the records, one per line, `---`, and the messages.
 */

import { type AssembledMessage, createAssembler, type LateEvents } from "../../shared/ingest/assembler.ts"
import { chatEventToRecords, isChatEvent } from "../../shared/ingest/chat-event.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { fold, type Message } from "../../shared/protocol/message.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import type { Segment } from "../../shared/protocol/segment.ts"

export interface ImportFixture {
  readonly name: string
  readonly source: string
  /** The keys of each record type in the source. */
  readonly keys: ReadonlyMap<string, readonly string[]>
  readonly lines: readonly string[]
  /** The printed messages. */
  readonly expected: string
}

export function parseImportFixture(name: string, text: string): ImportFixture {
  const [input = "", expected = ""] = text.split(/^---\n/m)
  const all = input.trimEnd().split("\n")
  const keys = all.flatMap((line) => {
    const match = /^# keys (\S+):(.*)$/.exec(line)
    return match === null ? [] : [[match[1] ?? "", (match[2] ?? "").split(" ").filter(Boolean)] as const]
  })
  const source = all.find((line) => line.startsWith("# source: ")) ?? ""
  return { name, source, keys: new Map(keys), lines: all.filter((line) => !line.startsWith("#")), expected }
}

/** Returns the messages of a file as the importer creates them: ordered by time, with late results applied. */
export function importLines(lines: readonly string[]): Message[] {
  const records = lines.flatMap((line) => lineToRecords(JSON.parse(line)))
  const timed = records.map((record, n) => ({ record, n, at: Date.parse(record.timestamp ?? "") }))
  timed.sort((a, b) => (a.at === b.at ? a.n - b.n : a.at - b.at))
  const assembler = createAssembler(new Set(), [], false)
  return applyLate([...timed.flatMap(({ record, n }) => assembler.addRecord(record, n + 1)), ...assembler.end()])
}

function lineToRecords(value: unknown): StreamRecord[] {
  const isEvent = isChatEvent(value)
  const found = isEvent ? chatEventToRecords(value, new Date(Number(value.timestamp)).toISOString()) : null
  return (found ?? [value]).map((one) => {
    const record = parseRecord(JSON.parse(JSON.stringify(one)))
    if (!record.ok) throw new Error(`${JSON.stringify(one)}: ${JSON.stringify(record.fault)}`)
    return record.value
  })
}

function applyLate(items: readonly (AssembledMessage | LateEvents)[]): Message[] {
  const messages: Message[] = []
  for (const item of items) {
    if (Object.keys(item.lost).length > 0) throw new Error(`lost: ${JSON.stringify(item)}`)
    if (item.kind === "message") {
      messages.push(item.message)
      continue
    }
    const at = messages.findIndex(({ id }) => id === item.id)
    const target = messages[at]
    if (target !== undefined)
      messages[at] = item.events.reduce((message: Message, event: TurnEvent) => fold(message, event), target)
  }
  return messages
}

/** Prints one line per message, followed by an indented line per segment. */
export function printMessages(messages: readonly Message[]): string {
  return messages
    .map((message) => `${printHead(message)}\n${messageToWire(message).segments.map(printSegment).join("")}`)
    .join("")
}

function printHead({ id, role, status, reason, mode, agent }: Message): string {
  const words = [
    role,
    id.startsWith("imported-") ? "" : id,
    role === "assistant" ? status : "",
    reason ?? "",
    mode === "chat" ? "" : mode,
    agent?.direction === "received" ? `from ${agent.name}` : "",
    agent === null || agent.exchange.startsWith("imported-") ? "" : `exchange ${agent.exchange}`,
    agent?.call_id === undefined ? "" : `call ${agent.call_id}`,
  ]
  return words.filter((word) => word !== "").join(" ")
}

function printSegment(segment: Segment): string {
  switch (segment.type) {
    case "text":
    case "thinking":
    case "agent":
      return `  ${segment.type} ${JSON.stringify(segment.content)}\n`
    case "rich":
      return `  card ${segment.tag} ${JSON.stringify(segment.payload)} ${JSON.stringify(segment.synthesis)}\n`
    case "tool": {
      const { name, args, status, output, result, error } = segment
      const words = [
        output === undefined ? "" : `output ${JSON.stringify(output)}`,
        result === undefined ? "" : `result ${JSON.stringify(result)}`,
        error === undefined ? "" : `${error.code}: ${error.message}`,
      ]
      return `  ${["tool", name, args, status, ...words].filter((word) => word !== "").join(" ")}\n`
    }
    default:
      return `  ${segment.type}\n`
  }
}
