/**
 * export-seal.ts: the seal of an export: an HMAC of all the export's records with the tenant's key.
 *
 * The seal does not cover the session's id, because an import gives the transcript a new one (SPEC RE4).
 */

import { base64url } from "jose"
import { bytesToHex } from "../platform/crypto/hex.ts"

export interface Seal {
  /** Adds records in the order of the file, each as converted by `recordToSealedLine`. */
  add(lines: readonly string[]): void
  /** Returns the HMAC of all records in base64url. Nothing can be added afterwards. */
  sign(key: CryptoKey): Promise<string>
  /** Compares `value` with that HMAC in constant time. Nothing can be added afterwards. */
  verify(key: CryptoKey, value: string): Promise<boolean>
}

/** Returns the sealed part of a record as JSON. The fields keep their order. */
export function recordToSealedLine(record: object): string {
  const { sessionId: _, ...sealed } = record as { readonly sessionId?: unknown }
  return JSON.stringify(sealed)
}

export type RecordDigest = ReturnType<typeof createRecordDigest>

/**
 * Creates a SHA-256 digest of records, one per line. Cost: linear time, and memory for the records of one `add` call.
 */
export function createRecordDigest() {
  const digest = new crypto.DigestStream("SHA-256")
  const writer = digest.getWriter()
  const encoder = new TextEncoder()
  return {
    add(lines: readonly string[]): void {
      if (lines.length === 0) return
      // `finish` reports the error.
      writer.write(encoder.encode(`${lines.join("\n")}\n`)).catch(() => {})
    },
    /** Returns the digest. Nothing can be added afterwards. */
    async finish(): Promise<ArrayBuffer> {
      await writer.close()
      return await digest.digest
    },
    /** Returns an id for the file: 32 hexadecimal digits. */
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
      return base64url.encode(new Uint8Array(mac))
    },
    async verify(key, value) {
      const data = await digest.finish()
      return await crypto.subtle.verify("HMAC", key, decodeBase64Url(value), data)
    },
  }
}

/** Decodes base64url. Returns no bytes if the string is invalid. */
function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(base64url.decode(text))
  } catch {
    return new Uint8Array()
  }
}
