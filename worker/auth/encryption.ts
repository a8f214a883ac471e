/**
 * encryption.ts: encrypts text with keys derived from the deployment's secret (AES-GCM, 256 bits). Used for cookies,
 * and for secrets that must be readable later.
 */

import { base64url } from "jose"
import { deriveBytes } from "./verify-token.ts"

const IV_BYTES = 12

async function deriveCipherKey(secret: string, purpose: string): Promise<CryptoKey> {
  const bytes = await deriveBytes(secret, purpose)
  return await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"])
}

/** Encrypts text for one purpose. The result, in base64url, cannot be decrypted for any other purpose. */
export async function encryptText(secret: string, purpose: string, text: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const key = await deriveCipherKey(secret, purpose)
  const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new TextEncoder().encode(text))
  return base64url.encode(new Uint8Array([...iv, ...new Uint8Array(data)]))
}

/** Decrypts text. Returns null if the text was changed, or was not encrypted for this purpose with this secret. */
export async function decryptText(secret: string, purpose: string, sealed: string): Promise<string | null> {
  try {
    const bytes = base64url.decode(sealed)
    const algorithm = { name: "AES-GCM", iv: bytes.subarray(0, IV_BYTES) }
    const key = await deriveCipherKey(secret, purpose)
    return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, bytes.subarray(IV_BYTES)))
  } catch {
    return null
  }
}
