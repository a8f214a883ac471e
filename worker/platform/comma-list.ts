/** comma-list.ts: comma-separated values in variables and headers. Pure. */

/** Returns the entries without surrounding whitespace. Empty entries are dropped. */
export function splitCommaList(list = ""): string[] {
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
}
