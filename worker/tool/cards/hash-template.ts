/** hash-template.ts: the revision of a card's template. */

import { bytesToHex } from "../../platform/crypto/hex.ts"

/** 128 bits of a SHA-256 hash, as 32 hexadecimal digits. `view` and `schema` are JSON. */
export async function hashTemplate(tool: string, view: string, schema: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${tool}\n${view}\n${schema}`))
  return bytesToHex(digest).slice(0, 32)
}
