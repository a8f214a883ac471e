/** import-text.ts: the strings of the import, which is loaded on first use. Pure. */

/** A count with its noun: 1 → "1 record", 2_000 → "2,000 records". */
function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`
}

/** The number of imported messages. `messages` is null if the server does not report it. */
function formatSummary(messages: number | null, records: number): string {
  return `Imported ${messages === null ? formatCount(records, "record") : formatCount(messages, "message")}.`
}

/** The summary for a data export with several conversations. */
function formatExportSummary(imported: number, empty: number, leftOut: number, messages: number | null): string {
  const total = messages === null ? "" : ` with ${formatCount(messages, "message")}`
  const sentences = [`Imported ${formatCount(imported, "conversation")}${total}.`]
  if (empty > 0)
    sentences.push(`${formatCount(empty, "conversation")} without messages ${empty === 1 ? "was" : "were"} skipped.`)
  if (leftOut > 0)
    sentences.push(`${formatCount(leftOut, "more", "more")} in this file ${leftOut === 1 ? "was" : "were"} left out.`)
  return sentences.join(" ")
}

/** The reason why a piece of a response was dropped while its message was put together. */
function wasDropped(count: number): string {
  return `${count === 1 ? "was" : "were"} dropped: too late, too much, or different from what is shown`
}

const KIND_TEXTS: Readonly<Record<string, (count: number) => string>> = {
  image: (count) => `${formatCount(count, "image")} couldn't be imported.`,
  audio: (count) => `${formatCount(count, "audio clip")} couldn't be imported.`,
  video: (count) => `${formatCount(count, "video")} couldn't be imported.`,
  file: (count) => `${formatCount(count, "file")} couldn't be imported.`,
  document: (count) => `${formatCount(count, "document")} ${count === 1 ? "was" : "were"} imported as text.`,
  canvas: (count) => `${formatCount(count, "canvas", "canvases")} ${count === 1 ? "was" : "were"} imported as text.`,
  hidden_thinking: (count) =>
    `${formatCount(count, "thinking block")} can't be read, because the provider encrypted it.`,
  system: (count) => `${formatCount(count, "system message")} ${count === 1 ? "isn't" : "aren't"} shown.`,
  subagent: (count) => `${formatCount(count, "subagent message")} ${count === 1 ? "isn't" : "aren't"} shown.`,
  branch: (count) =>
    `${formatCount(count, "message")} of other branches of the conversation ${count === 1 ? "isn't" : "aren't"} shown.`,
  long_question: (count) =>
    `${formatCount(count, "message")} of the user over 64 KB ${count === 1 ? "was" : "were"} shortened.`,
  call: (count) =>
    `${formatCount(count, "tool call")} beyond the limit or after the end of a response ${count === 1 ? "was" : "were"} dropped.`,
  text: (count) => `${formatCount(count, "piece")} of text ${wasDropped(count)}.`,
  result: (count) => `${formatCount(count, "tool result")} ${wasDropped(count)}.`,
  output: (count) => `${formatCount(count, "piece")} of tool output ${wasDropped(count)}.`,
  start: (count) =>
    `${formatCount(count, "start or approval", "starts and approvals")} of tool calls ${wasDropped(count)}.`,
  other: (count) => `${formatCount(count, "block")} of other unknown types, imported as text.`,
}

/** The result for the content of one kind. A kind of the form `block:chart` names a type that is unknown here. */
function formatKind(kind: string, count: number): string {
  const known = Object.hasOwn(KIND_TEXTS, kind) ? KIND_TEXTS[kind] : undefined
  if (known !== undefined) return known(count)
  const [place = "", type = ""] = kind.split(":", 2)
  if (place === "message") return `${formatCount(count, "message")} of the unknown role “${type}”, imported as text.`
  if (place === "line")
    return `${formatCount(count, "line")} of the unknown type “${type}” ${count === 1 ? "isn't" : "aren't"} shown.`
  return `${formatCount(count, "block")} of the unknown type “${type}”, imported as text.`
}

export const importText = {
  title: "Import a conversation",
  doneTitle: "Imported",
  hint: "Upload a Cuecard export, or a conversation file of ChatGPT, Claude, Codex, Pi or a model API. It opens as a new conversation.",
  chooseFile: "Choose a file",
  orDrop: " or drop it here",
  fileInput: "File to import",
  uploading: "Uploading",
  reading: "Reading",
  bytesOf: (sent: string, size: string) => `${sent} of ${size}`,
  recordsOf: (done: number, total: number) => `${done.toLocaleString("en")} of ${formatCount(total, "record")}`,
  skippedFile: (name: string) => `“${name}” was skipped. Import one file at a time.`,
  summary: formatSummary,
  exportSummary: formatExportSummary,
  skippedLines: (skipped: number) => `${formatCount(skipped, "line")} ${skipped === 1 ? "was" : "were"} skipped:`,
  kind: formatKind,
  several: "Importing",
  severalOf: (done: number, of: number) => `${done.toLocaleString("en")} of ${formatCount(of, "conversation")}`,
  line: (line: number) => `Line ${line}`,
  moreLines: (count: number) => `… and ${count.toLocaleString("en")} more.`,
  interrupted: "The import was interrupted. Try again.",
  unreadable: "We couldn't read this file. Nothing was imported.",
  emptyFile: "This file is empty.",
  emptyExport: "We couldn't find any messages in this file.",
  zip: "This is a ZIP archive. Unzip it and import the file “conversations.json”.",
  gzipTooLarge: "Compressed files can be up to 64 MB. Unzip the file first.",
  arrayTooLarge: "JSON lists can be up to 64 MB. Put one message per line.",
  lineTooLong: "A line of this file is too long to import.",
  tooLarge: "Files can be up to 4 GB. Split the file and import each part.",
  imported: (title: string) => `Imported “${title}”.`,
} as const
