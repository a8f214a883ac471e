/** log.ts: structured log lines. Everything that the Worker logs goes through this module. */

/** Writes one line: an event name and its fields. */
export type Log = (event: string, fields: Record<string, unknown>) => void

export const log: Log = (event, fields) => {
  console.log(JSON.stringify({ event, ...fields }))
}

/** Like `log`, at the platform's error level. */
export const logError: Log = (event, fields) => {
  console.error(JSON.stringify({ event, ...fields }))
}

/** The message of a caught value, for a log field. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : "unknown"
}
