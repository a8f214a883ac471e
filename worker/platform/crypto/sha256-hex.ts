/** sha256-hex.ts: SHA-256 hashes in hexadecimal. */

import { bytesToHex } from "./hex.ts"

/** Returns 64 digits. A string is hashed as UTF-8. Cost: linear. */
export async function computeHash(data: string | ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data
  return bytesToHex(await crypto.subtle.digest("SHA-256", bytes))
}

/** Returns the first 128 bits, as 32 digits: enough for ids and revisions, which nobody compares with a secret. */
export async function computeShortHash(data: string | ArrayBuffer): Promise<string> {
  return (await computeHash(data)).slice(0, 32)
}
