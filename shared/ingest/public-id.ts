/** public-id.ts: converts other producers' ids to valid ids. Pure. */

import { MAX_ID_CHARS } from "../limits.ts"

/** Replaces invalid characters with hyphens and cuts the id to its maximum length. Returns null if the id is empty. */
export function toPublicId(text: string | undefined): string | null {
  const id = (text ?? "").replace(/[^A-Za-z0-9_-]/g, "-").slice(0, MAX_ID_CHARS)
  return id === "" ? null : id
}

/** Does what `toPublicId` does, for a call's id. Records of a call always name the call, so this never returns null. */
export function toPublicCallId(text: string): string {
  return toPublicId(text) ?? "call"
}
