/** iso-time.ts: converts times from other systems to ISO 8601. */

/**
 * Formats a time, given as a string or in milliseconds since 1970, in ISO 8601 and UTC. Returns null if it is not a
 * time.
 */
export function formatTime(time: unknown): string | null {
  if (typeof time !== "string" && typeof time !== "number") return null
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
