/**
 * index.ts: the entry point of the package `cuecard`: pure functions for other projects.
 *
 * The functions sanitise model text, split it into segments, apply ops, validate frames and records, and convert other
 * systems' history. Nothing in this repository imports this file. The package exports its build,
 * `dist/shared/index.js`; in a checkout, Node ≥ 22.18 can also run this source file.
 */

export { type Fault, type FaultReason, faultToWire, type Result, type WireFault } from "./fault.ts"
export { type Json, toCanonicalJson } from "./json.ts"
export { PROTOCOL_VERSION } from "./limits.ts"

// Model text
export { clean, type Cleaner, createCleaner } from "./sanitize/clean.ts"
export { checkPublicUrl } from "./text/public-url.ts"

// Events, messages and segments
export { type Asset, parseEvent, type TurnEvent } from "./protocol/event.ts"
export { createMessage, fold, type Message, type Part, type ToolCall } from "./protocol/message.ts"
export { createSegmenter, parse, plainText, segmentsOf, type Segmenter } from "./segment/segmenter.ts"
export { type Directives, parseDirectives } from "./segment/parse-directives.ts"
export { stripSpans } from "./segment/span-tag.ts"

// Wire format
export { apply, applyToMessage } from "./protocol/apply-ops.ts"
export { type ClientFrame, parseClientFrame } from "./protocol/client-frame.ts"
export type { HistoryPage, ImportProgress, SessionSummary } from "./protocol/http-body.ts"
export type { Op, Segment } from "./protocol/segment.ts"
export { parseServerFrame, type ServerFrame, type WireMessage } from "./protocol/server-frame.ts"

// Records: export, import and the streams of other programs
export { messageToRecords } from "./segment/message-to-records.ts"
export { parseRecord, type StreamRecord } from "./protocol/record.ts"
export { type Assembler, createAssembler } from "./ingest/assembler.ts"
export { createHistoryReader, type HistoryReader } from "./ingest/history/history-reader.ts"
export { createClaudeMapper } from "./ingest/claude-stream.ts"
export { createCodexMapper } from "./ingest/codex-stream.ts"
export { createPiMapper } from "./ingest/pi-stream.ts"
export type { Mapper } from "./ingest/record-writer.ts"
