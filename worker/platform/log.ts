/**
 * log.ts: structured log lines. Everything that the Worker logs goes through this module.
 *
 * A line contains an event name, ids and numbers, but nothing that a person or a model wrote (SPEC OB6).
 */

/** Writes one line: an event name and its fields. */
export type Log = (event: string, fields: Readonly<Record<string, unknown>>) => void

export const log: Log = (event, fields) => {
  console.log(JSON.stringify({ event, ...fields }))
}

/** Like `log`, at the platform's error level. */
export const logError: Log = (event, fields) => {
  console.error(JSON.stringify({ event, ...fields }))
}

/** Maximum number of stack frames in a log line. */
const MAX_FRAMES = 6
/** Error names and codes are logged only if they match this pattern, because others can contain any text. */
const WORD = /^[\w.-]{1,64}$/

/**
 * Describes a caught value for a log line: its name, its code, and where it was thrown. Omits its message, because the
 * messages of tools, providers and parsers quote content.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { name, message, stack = "" } = error
  const code: unknown = Reflect.get(error, "code")
  const words = [WORD.test(name) ? name : "Error", ...(typeof code === "string" && WORD.test(code) ? [code] : [])]
  // The message can have several lines, and one of them can look like a frame.
  const head = stack.indexOf(message)
  const frames = head < 0 ? "" : stack.slice(head + message.length)
  const places = [...frames.matchAll(/^ +at (.+)$/gm)].slice(0, MAX_FRAMES).map(([, place]) => place)
  return [words.join(" "), ...places].join(" < ")
}

/** Returns the message of a caught value, for the result of a tool. Log lines must use `describeError` instead. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : "unknown"
}
