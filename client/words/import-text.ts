/** import-text.ts: the strings of the import dialog, which is loaded on first use. Pure. */

import { formatCount } from "./format/number-format.ts"
import { formatPlural } from "./format/plural.ts"
import { translate } from "./languages/language.ts"

const plural = formatPlural<"en">

/** Returns a count with its noun: 1 → "1 record", 2_000 → "2,000 records". */
function countNoun(count: number, noun: string, nouns = `${noun}s`): string {
  return plural(count, { one: `# ${noun}`, other: `# ${nouns}` })
}

/** Returns the verb after the noun. */
function was(count: number): string {
  return plural(count, { one: "was", other: "were" })
}

function isNot(count: number): string {
  return plural(count, { one: "isn't", other: "aren't" })
}

/** Returns the sentence about the number of imported messages. `messages` is null if the server does not report it. */
function formatSummary(messages: number | null, records: number): string {
  return `Imported ${messages === null ? countNoun(records, "record") : countNoun(messages, "message")}.`
}

/** Returns the summary for a data export with several conversations. */
function formatExportSummary(imported: number, empty: number, leftOut: number, messages: number | null): string {
  const total = messages === null ? "" : ` with ${countNoun(messages, "message")}`
  const sentences = [`Imported ${countNoun(imported, "conversation")}${total}.`]
  if (empty > 0) sentences.push(`${countNoun(empty, "conversation")} without messages ${was(empty)} skipped.`)
  if (leftOut > 0) sentences.push(`${countNoun(leftOut, "more", "more")} in this file ${was(leftOut)} left out.`)
  return sentences.join(" ")
}

/** Returns why parts of a response were dropped when the message was assembled. */
function wasDropped(count: number): string {
  const it = plural(count, { one: "it", other: "they" })
  return `${was(count)} dropped because ${it} arrived too late, exceeded a limit, or differed from what is shown`
}

type ImportKind =
  | "image"
  | "audio"
  | "video"
  | "file"
  | "document"
  | "canvas"
  | "hidden_thinking"
  | "system"
  | "subagent"
  | "branch"
  | "long_question"
  | "call"
  | "text"
  | "result"
  | "output"
  | "start"
  | "other"

/**
 * The messages about content that isn't imported unchanged, by kind. A message that isn't a function is followed by the
 * count.
 */
const KIND_TEXTS: Readonly<Record<ImportKind, string | ((count: number) => string)>> = {
  image: (count) => `${countNoun(count, "image")} couldn't be imported.`,
  audio: (count) => `${countNoun(count, "audio clip")} couldn't be imported.`,
  video: (count) => `${countNoun(count, "video")} couldn't be imported.`,
  file: (count) => `${countNoun(count, "file")} couldn't be imported.`,
  document: (count) => `${countNoun(count, "document")} ${was(count)} imported as text.`,
  canvas: (count) => `${countNoun(count, "canvas", "canvases")} ${was(count)} imported as text.`,
  hidden_thinking: (count) => `${countNoun(count, "thinking block")} can't be read because providers encrypt thinking.`,
  system: (count) => `${countNoun(count, "system message")} ${isNot(count)} shown.`,
  subagent: (count) => `${countNoun(count, "subagent message")} ${isNot(count)} shown.`,
  branch: (count) => `${countNoun(count, "message")} from other branches of the conversation ${isNot(count)} shown.`,
  long_question: (count) => `${countNoun(count, "user message")} over 64 KB ${was(count)} shortened.`,
  call: (count) =>
    `${countNoun(count, "tool call")} beyond the limit or after the end of a response ${was(count)} dropped.`,
  text: (count) => `${countNoun(count, "piece")} of text ${wasDropped(count)}.`,
  result: (count) => `${countNoun(count, "tool result")} ${wasDropped(count)}.`,
  output: (count) => `${countNoun(count, "piece")} of tool output ${wasDropped(count)}.`,
  start: (count) =>
    `${countNoun(count, "tool call start or approval", "tool call starts or approvals")} ${wasDropped(count)}.`,
  other: (count) => `${countNoun(count, "block")} of other unknown types ${was(count)} imported as text.`,
}

export const importText = translate("import", {
  title: "Import a conversation",
  doneTitle: "Imported",
  hint: "Upload a Cuecard export, or a conversation file from ChatGPT, Claude, Codex, Pi or a model API. It opens as a new conversation.",
  chooseFile: "Choose a file",
  orDrop: " or drop it here",
  fileInput: "File to import",
  uploading: "Uploading",
  reading: "Reading",
  bytesOf: (sent: string, size: string) => `${sent} of ${size}`,
  recordsOf: (done: number, total: number) => `${formatCount(done)} of ${countNoun(total, "record")}`,
  skippedFile: (name: string) => `“${name}” was skipped. Import one file at a time.`,
  summary: formatSummary,
  exportSummary: formatExportSummary,
  skippedLines: (skipped: number) => `${countNoun(skipped, "line")} ${was(skipped)} skipped:`,
  kinds: KIND_TEXTS,
  unknownMessages: (count: number, role: string) =>
    `${countNoun(count, "message")} with the unknown role “${role}” ${was(count)} imported as text.`,
  unknownLines: (count: number, type: string) =>
    `${countNoun(count, "line")} of the unknown type “${type}” ${isNot(count)} shown.`,
  unknownBlocks: (count: number, type: string) =>
    `${countNoun(count, "block")} of the unknown type “${type}” ${was(count)} imported as text.`,
  several: "Importing",
  severalOf: (done: number, of: number) => `${formatCount(done)} of ${countNoun(of, "conversation")}`,
  line: (line: number) => `Line ${line}`,
  moreLines: (count: number) => `… and ${formatCount(count)} more.`,
  interrupted: "The import was interrupted. Try again.",
  unreadable: "We couldn't read this file. Nothing was imported.",
  emptyFile: "This file is empty.",
  emptyExport: "We couldn't find any messages in this file.",
  zip: "This is a ZIP archive. Unzip it and import a conversation file from it, such as “conversations.json”.",
  gzipTooLarge: "Compressed files can be up to 64 MB. Unzip the file first.",
  arrayTooLarge: "JSON lists can be up to 64 MB. Put one message per line.",
  lineTooLong: "A line in this file is too long to import.",
  tooLarge: "Files can be up to 4 GB. Split the file and import each part.",
  imported: (title: string) => `Imported “${title}”.`,
})

function isKnownKind(kind: string): kind is ImportKind {
  return Object.hasOwn(KIND_TEXTS, kind)
}

/**
 * Returns the message about the content of one kind. A kind such as `block:chart` names a type that this version
 * doesn't know.
 */
export function describeImportKind(kind: string, count: number): string {
  if (isKnownKind(kind)) {
    const text = importText.kinds[kind]
    return typeof text === "string" ? `${text}: ${formatCount(count)}` : text(count)
  }
  const [place = "", type = ""] = kind.split(":", 2)
  if (place === "message") return importText.unknownMessages(count, type)
  return place === "line" ? importText.unknownLines(count, type) : importText.unknownBlocks(count, type)
}
