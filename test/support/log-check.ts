/**
 * log-check.ts: checks that a server's log lines, spans and data points contain no content (SPEC OB6).
 *
 * The helpers that tests use to send and receive data record all text, arguments, results, titles, file names, tokens
 * and signed URLs. No value in a log line may contain 12 consecutive characters of a recorded string, or a recorded
 * short file name. In addition, no value may be a sentence, a URL or a credential, whatever its origin. In tests, data
 * points and spans are written as log lines (vitest.config.ts, checked-cuecard.ts).
 */

import { ACCESS_TABLE } from "../../worker/routes/access/administration-rules.ts"

/**
 * Length of the windows that are compared, in UTF-16 code units. Shorter strings aren't compared, because they are
 * often words that also occur in ids and names.
 */
const WINDOW = 12
/**
 * Number of positions, from the start of a recorded string, at which a window begins. Later windows don't overlap,
 * because there are many long strings.
 */
const DENSE_WINDOWS = 4_096
/** Fragments of field names that would otherwise pass for content. */
const FIELD_WORDS = new Set(["conversation"])
/**
 * Matches file names, which are also compared as a whole, because they can be shorter than a window. Names without an
 * extension don't match, because they are often ordinary words.
 */
const FILE_NAME = /^[\w-][\w.-]*\.[a-z][a-z\d]{1,4}$/i
/** The fields of requests, frames and pages of history that contain content. */
const CONTENT_FIELDS = new Set("content text delta synthesis args result output title label token".split(" "))
const MAX_DEPTH = 12

/** Fields whose values contain spaces: the location of an error, and the invalid variable. */
const FIELDS_WITH_SPACES = new Set(["error", "detail"])
/** Random 21-character ids may also begin with `ck_`, but an API key is much longer. */
const CREDENTIAL = /\beyJ[\w-]{8,}\.|\bck_[\w.-]{19,}|Bearer |[?&]token=|https?:\/\//

/** Route patterns, which data points contain and hostile texts quote. */
const ROUTES = new Set([
  ...ACCESS_TABLE.map(({ path }) => path),
  "/media/remote",
  "/canvas/documents/:id",
  "/auth/callback/:provider",
])

const noted = new Set<string>()
const fileNames = new Set<string>()
/** Ids that clients have chosen. They aren't leaks: log lines contain ids, and recorded text can repeat them. */
const ids = new Set<string>()
const faults: string[] = []

/** Records text that no line may contain from now on. */
export function noteContent(text: string): void {
  const last = text.length - WINDOW
  for (let at = 0; at <= last; at += at < DENSE_WINDOWS ? 1 : WINDOW) {
    const window = text.slice(at, at + WINDOW)
    if (at === 0 || !isIdentifier(window)) noted.add(window)
  }
}

/**
 * Returns whether a window looks like an identifier. Recorded text, such as model scripts and questions to agents, can
 * quote field names, tools, codes and ids, which log lines also contain.
 */
function isIdentifier(window: string): boolean {
  // A run of hexadecimal letters is assumed to be part of an id.
  if (/^[a-f]+$/.test(window)) return true
  return /^[a-z\d_.-]*[\d_.-][a-z\d_.-]*$/.test(window) || FIELD_WORDS.has(window)
}

function noteFileName(name: string): void {
  noteContent(name)
  if (FILE_NAME.test(name)) fileNames.add(name)
}

/** Records the text in a value's content fields. The value is a request body, a frame or a page of history. */
export function noteFields(value: unknown, depth = 0): void {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return
  for (const [name, field] of Object.entries(value)) {
    if (name === "href" && typeof field === "string") noteAddress(field)
    else if (name === "id" && typeof field === "string") ids.add(field)
    else if (name === "name" && typeof field === "string" && FILE_NAME.test(field)) noteFileName(field)
    else if (typeof field === "string" && CONTENT_FIELDS.has(name)) noteContent(field)
    else noteFields(field, depth + 1)
  }
}

/** Like `noteFields`, for a request, a response or a frame as JSON text. Any other text is ignored. */
export function noteJson(text: unknown): void {
  if (typeof text !== "string" || !text.startsWith("{")) return
  try {
    noteFields(JSON.parse(text))
  } catch {}
}

/** Records the token, the code and the file name in a URL. */
export function noteAddress(address: string): void {
  const { searchParams } = new URL(address, "http://localhost")
  for (const name of ["token", "code"]) noteContent(searchParams.get(name) ?? "")
  noteFileName(searchParams.get("name") ?? "")
}

/** Describes what a line leaks; null if it leaks nothing. A line that isn't JSON is only searched for recorded text. */
export function findLeak(line: string): string | null {
  const fields = parseLine(line)
  if (fields === null) return findNoted(line)
  return findLeakIn("", fields)
}

function parseLine(line: string): object | null {
  if (!line.startsWith("{")) return null
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

function findLeakIn(field: string, value: unknown): string | null {
  if (typeof value === "string") {
    const isSentence = /\s/.test(value) && !FIELDS_WITH_SPACES.has(field)
    if (isSentence) return `the field ${field} contains a sentence`
    return CREDENTIAL.test(value) ? `the field ${field} contains a URL or a credential` : findNoted(value)
  }
  if (typeof value !== "object" || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    const leak = findLeakIn("", name) ?? findLeakIn(Array.isArray(value) ? field : name, inner)
    if (leak !== null) return leak
  }
  return null
}

/**
 * Searches a value for recorded text. Each window is looked up once, so the cost doesn't depend on how much was
 * recorded.
 */
function findNoted(value: string): string | null {
  if (ids.has(value) || ROUTES.has(value)) return null
  const fileName = value.split(/[^\w.-]+/).find((word) => fileNames.has(word))
  if (fileName !== undefined) return `it contains the file name ${fileName}`
  for (let at = 0; at + WINDOW <= value.length; at++) {
    const window = value.slice(at, at + WINDOW)
    if (noted.has(window)) return `it contains the noted text ${JSON.stringify(window)}`
  }
  return null
}

/** Checks a line. `takeLeaks` returns what was found. */
export function checkLine(line: unknown): void {
  const leak = findLeak(String(line))
  if (leak !== null) faults.push(`${leak}: ${String(line).slice(0, 400)}`)
}

/** Discards the recorded text, which is irrelevant to the next test file in the same process. */
export function forgetContent(): void {
  for (const set of [noted, fileNames, ids]) set.clear()
}

/** Returns the leaks found since the last call. */
export function takeLeaks(): string[] {
  return faults.splice(0)
}
