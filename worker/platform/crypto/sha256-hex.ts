/** sha256-hex.ts: SHA-256 hashes in hexadecimal. */

import { bytesToHex } from "./hex.ts"

/** Returns the hash as 64 digits. A string is hashed as UTF-8. Cost: linear in the size of the data. */
export async function computeHash(data: string | ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data
  return bytesToHex(await crypto.subtle.digest("SHA-256", bytes))
}

/** Returns the first 128 bits of the hash, as 32 digits. That is enough for ids and revisions. */
export async function computeShortHash(data: string | ArrayBuffer): Promise<string> {
  return (await computeHash(data)).slice(0, 32)
}
