/** public-id.ts: turns the ids of other producers into ids that this project accepts. Pure. */

import { MAX_ID_CHARS } from "../limits.ts"

/** Replaces invalid characters with hyphens and cuts the id to its limit. Null if nothing is left. */
export function toPublicId(text: string | undefined): string | null {
  const id = (text ?? "").replace(/[^A-Za-z0-9_-]/g, "-").slice(0, MAX_ID_CHARS)
  return id === "" ? null : id
}

/** Like `toPublicId`, for a call: a record of a call always names one. */
export function toPublicCallId(text: string): string {
  return toPublicId(text) ?? "call"
}
