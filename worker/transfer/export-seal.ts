/**
 * export-seal.ts: who vouches for an export: an HMAC, with a key of the tenant's, over all its lines.
 *
 * The session's id is left out of what is vouched for, since an import gives the transcript another session.
 */

import { toHex } from "../platform/hex.ts"

export interface Seal {
  /** Takes what is vouched for of some records (`vouchedIn`), in the order of the file. */
  add(vouched: readonly string[]): void
  /** The HMAC of all of them, in base64url. It takes no more then. */
  value(key: CryptoKey): Promise<string>
}

/** What is vouched for of one record, with its fields in their order. */
export function vouchedIn(record: object): string {
  const { sessionId: _, ...vouched } = record as { readonly sessionId?: unknown }
  return JSON.stringify(vouched)
}

export type Digest = ReturnType<typeof createDigest>

/** SHA-256 of records, one a line. Cost: linear; the memory of the records that are added at once. */
export function createDigest() {
  const digest = new crypto.DigestStream("SHA-256")
  const writer = digest.getWriter()
  const encoder = new TextEncoder()
  return {
    add(vouched: readonly string[]): void {
      if (vouched.length === 0) return
      // What cannot be hashed is found when the value is asked for.
      writer.write(encoder.encode(`${vouched.join("\n")}\n`)).catch(() => {})
    },
    /** It takes no more then. */
    async value(): Promise<ArrayBuffer> {
      await writer.close()
      return await digest.digest
    },
    /** What a file is known by, in 32 hexadecimal digits. */
    async name(): Promise<string> {
      return toHex((await this.value()).slice(0, 16))
    },
  }
}

export function createSeal(): Seal {
  const digest = createDigest()
  return {
    add: digest.add,
    async value(key) {
      const mac = await crypto.subtle.sign("HMAC", key, await digest.value())
      return base64Url(new Uint8Array(mac))
    },
  }
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "")
}
