/**
 * webhook-signature.ts: signs and verifies messages as Standard Webhooks does (https://www.standardwebhooks.com).
 *
 * The signature is HMAC-SHA256 over `<id>.<timestamp>.<body>`. Receivers can use any library of that standard.
 */

import { isSameHash } from "../platform/crypto/compare-secrets.ts"

const SECRET_PREFIX = "whsec_"
const SECRET_BYTES = 32

/** How far a timestamp may be from now, in seconds. The standard's libraries use the same tolerance. */
const TOLERANCE_SECONDS = 5 * 60

export interface SignedMessage {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

export function createWebhookSecret(): string {
  return SECRET_PREFIX + encodeBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
}

/**
 * Creates the three headers of a request. There is one signature per secret, so that a receiver can change its secret
 * later.
 */
export async function createSignatureHeaders(
  secrets: readonly string[],
  message: SignedMessage,
): Promise<Record<string, string>> {
  const signatures = await Promise.all(secrets.map((secret) => sign(secret, message)))
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(message.timestamp),
    "webhook-signature": signatures.join(" "),
  }
}

/** Whether a message is signed with one of the secrets, and its timestamp is at most five minutes from now. */
export async function verifySignature(
  secrets: readonly string[],
  message: SignedMessage,
  signatures: string,
  nowSeconds: number,
): Promise<boolean> {
  if (!(Math.abs(nowSeconds - message.timestamp) <= TOLERANCE_SECONDS)) return false
  // A sender has few secrets. More signatures would only cost time.
  const candidates = signatures.split(" ").slice(0, 8)
  for (const secret of secrets) {
    const expected = await sign(secret, message)
    for (const signature of candidates) if (isSameHash(signature, expected)) return true
  }
  return false
}

async function sign(secret: string, { id, timestamp, body }: SignedMessage): Promise<string> {
  const bytes = Uint8Array.from(atob(secret.slice(SECRET_PREFIX.length)), (char) => char.charCodeAt(0))
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id}.${timestamp}.${body}`))
  return `v1,${encodeBase64(new Uint8Array(signature))}`
}

function encodeBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}
