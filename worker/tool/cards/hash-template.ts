/** hash-template.ts: the revision of a card's template. */

import { computeShortHash } from "../../platform/crypto/sha256-hex.ts"

/** Returns the first 128 bits of a SHA-256 hash, as 32 hexadecimal digits. `view` and `schema` are JSON. */
export async function hashTemplate(tool: string, view: string, schema: string): Promise<string> {
  return await computeShortHash(`${tool}\n${view}\n${schema}`)
}
