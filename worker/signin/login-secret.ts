/**
 * login-secret.ts: the secret of a sign-in's cookie, which each use replaces.
 *
 * Each secret is derived from the previous one. So two tabs that send the same cookie at the same time get the same
 * next secret, and so does a request that is retried because its response was lost. Only hashes are stored.
 */

import { base64url } from "jose"
import { deriveKey } from "../auth/verify-token.ts"
import type { LoginSecrets } from "../platform/rpc/directory-rpc.ts"
import type { LoginCookie } from "./sign-in-cookies.ts"

const SECRET_BYTES = 32

export function createLoginSecret(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
}

export async function hashLoginSecret(secret: string): Promise<string> {
  return await hashSecret(`secret ${secret}`)
}

/**
 * Creates the id of the sign-in that completes a transaction. The id is the same for every attempt, so only the first
 * attempt succeeds.
 */
export async function createLoginId(state: string): Promise<string> {
  return (await hashSecret(`login ${state}`)).slice(0, 22)
}

/** Returns the secret after this one, and the hashes of both. */
export async function deriveNextSecret(
  key: string,
  { tenant, user, login, secret }: LoginCookie,
): Promise<LoginSecrets & { readonly nextSecret: string }> {
  const data = new TextEncoder().encode(JSON.stringify([tenant, user, login, secret]))
  const nextSecret = base64url.encode(
    new Uint8Array(await crypto.subtle.sign("HMAC", await deriveKey(key, "login secret"), data)),
  )
  return { nextSecret, presented: await hashLoginSecret(secret), next: await hashLoginSecret(nextSecret) }
}

async function hashSecret(text: string): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))))
}
