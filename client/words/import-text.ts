/** import-text.ts: the strings of the import, which is loaded on first use. Pure. */

/** A count with its noun: 1 → "1 record", 2_000 → "2,000 records". */
function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`
}

export const importText = {
  title: "Import a conversation",
  doneTitle: "Imported",
  hint: "Upload a Cuecard export (.jsonl or .gz). It opens as a new conversation.",
  chooseFile: "Choose a file",
  orDrop: " or drop it here",
  fileInput: "File to import",
  uploading: "Uploading",
  reading: "Reading",
  bytesOf: (sent: string, size: string) => `${sent} of ${size}`,
  recordsOf: (done: number, total: number) => `${done.toLocaleString("en")} of ${formatCount(total, "record")}`,
  skippedFile: (name: string) => `“${name}” was skipped. Import one file at a time.`,
  summary: (records: number, skipped: number) =>
    `Imported ${formatCount(records, "record")}. ${formatCount(skipped, "line")} ${skipped === 1 ? "was" : "were"} skipped:`,
  line: (line: number) => `Line ${line}`,
  moreLines: (count: number) => `… and ${count.toLocaleString("en")} more.`,
  interrupted: "The import was interrupted. Try again.",
  unreadable: "We couldn't read this file. Nothing was imported.",
  emptyFile: "This file is empty.",
  gzipTooLarge: "Compressed files can be up to 64 MB. Unzip the file first.",
  arrayTooLarge: "JSON lists can be up to 64 MB. Put one message per line.",
  lineTooLong: "A line of this file is too long to import.",
  tooLarge: "Files can be up to 4 GB. Split the file and import each part.",
  imported: (title: string) => `Imported “${title}”.`,
} as const
