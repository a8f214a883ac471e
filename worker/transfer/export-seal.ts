/**
 * export-seal.ts: who vouches for an export: an HMAC, with a key of the tenant's, over all its lines.
 *
 * The session's id is left out of what is vouched for, since an import gives the transcript another session.
 */

import { bytesToHex } from "../platform/hex.ts"

export interface Seal {
  /** Takes what is vouched for of some records (`vouchedIn`), in the order of the file. */
  add(lines: readonly string[]): void
  /** The HMAC of all of them, in base64url. It takes no more then. */
  sign(key: CryptoKey): Promise<string>
}

/** What is vouched for of one record, with its fields in their order. */
export function recordToSealedLine(record: object): string {
  const { sessionId: _, ...sealed } = record as { readonly sessionId?: unknown }
  return JSON.stringify(sealed)
}

export type RecordDigest = ReturnType<typeof createRecordDigest>

/** SHA-256 of records, one a line. Cost: linear; the memory of the records that are added at once. */
export function createRecordDigest() {
  const digest = new crypto.DigestStream("SHA-256")
  const writer = digest.getWriter()
  const encoder = new TextEncoder()
  return {
    add(lines: readonly string[]): void {
      if (lines.length === 0) return
      // What cannot be hashed is found when the value is asked for.
      writer.write(encoder.encode(`${lines.join("\n")}\n`)).catch(() => {})
    },
    /** It takes no more then. */
    async finish(): Promise<ArrayBuffer> {
      await writer.close()
      return await digest.digest
    },
    /** What a file is known by, in 32 hexadecimal digits. */
    async finishAsSourceId(): Promise<string> {
      return bytesToHex((await this.finish()).slice(0, 16))
    },
  }
}

export function createSeal(): Seal {
  const digest = createRecordDigest()
  return {
    add: digest.add,
    async sign(key) {
      const mac = await crypto.subtle.sign("HMAC", key, await digest.finish())
      return bytesToBase64Url(new Uint8Array(mac))
    },
  }
}

function bytesToBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "")
}
