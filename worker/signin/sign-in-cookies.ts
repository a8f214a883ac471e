/**
 * sign-in-cookies.ts: the two cookies of the page's sign-in. Both are encrypted, so neither can be read or made elsewhere.
 *
 * `__Host-` cookies come only from this host over https, so no sibling domain can set one. Scripts cannot read them, and
 * other sites can only send them with a top-level navigation.
 */

import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { parseJson } from "../../shared/json.ts"
import { LOGIN_IDLE_MS, SIGN_IN_MS } from "../../shared/limits.ts"
import { decryptText, encryptText } from "../auth/encryption.ts"
import { tenantIdSchema } from "../platform/tenant-id.ts"

const LOGIN_COOKIE = "__Host-cuecard"
const TRANSACTION_COOKIE = "__Host-cuecard-signin"

/** Longest cookie that is decrypted, in characters. Browsers store 4 KB. */
const MAX_COOKIE_CHARS = 4_096

const text = v.pipe(v.string(), v.maxLength(MAX_COOKIE_CHARS))

const loginSchema = v.object({ tenant: tenantIdSchema, user: idSchema, login: text, secret: text })

const transactionSchema = v.object({
  tenant: tenantIdSchema,
  provider: text,
  /** The issuer's, so that the provider's answer goes to no other one. */
  generation: v.number(),
  state: text,
  nonce: text,
  verifier: text,
  to: text,
  /** Milliseconds since 1970. */
  expires: v.number(),
})

/** Who is signed in, and the secret that proves it. */
export type LoginCookie = v.InferOutput<typeof loginSchema>

/** A sign-in between `/auth/login` and `/auth/callback`. */
export type SignInTransaction = v.InferOutput<typeof transactionSchema>

export async function formatLoginCookie(secret: string, cookie: LoginCookie): Promise<string> {
  return format(LOGIN_COOKIE, await encryptText(secret, LOGIN_COOKIE, JSON.stringify(cookie)), LOGIN_IDLE_MS)
}

export async function formatTransactionCookie(secret: string, transaction: SignInTransaction): Promise<string> {
  const sealed = await encryptText(secret, TRANSACTION_COOKIE, JSON.stringify(transaction))
  return format(TRANSACTION_COOKIE, sealed, SIGN_IN_MS)
}

export const NO_LOGIN_COOKIE = format(LOGIN_COOKIE, "", 0)
export const NO_TRANSACTION_COOKIE = format(TRANSACTION_COOKIE, "", 0)

/** Null if there is no valid cookie. `header`: the request's `Cookie`. */
export async function readLoginCookie(secret: string, header: string | null): Promise<LoginCookie | null> {
  const parsed = v.safeParse(loginSchema, await decryptCookie(secret, LOGIN_COOKIE, header))
  return parsed.success ? parsed.output : null
}

/** Null if there is none, or it has expired. */
export async function readTransactionCookie(
  secret: string,
  header: string | null,
  now: number,
): Promise<SignInTransaction | null> {
  const parsed = v.safeParse(transactionSchema, await decryptCookie(secret, TRANSACTION_COOKIE, header))
  return parsed.success && now < parsed.output.expires ? parsed.output : null
}

async function decryptCookie(secret: string, name: string, header: string | null): Promise<unknown> {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim())
  const sealed = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
  if (sealed === undefined || sealed === "" || sealed.length > MAX_COOKIE_CHARS) return null
  return parseJson((await decryptText(secret, name, sealed)) ?? "")
}

function format(name: string, value: string, maxAgeMs: number): string {
  return `${name}=${value}; Path=/; Max-Age=${Math.floor(maxAgeMs / 1000)}; HttpOnly; Secure; SameSite=Lax`
}
