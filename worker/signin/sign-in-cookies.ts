/**
 * sign-in-cookies.ts: the two cookies of the page's sign-in. Both are encrypted, so nobody else can read or create
 * them.
 *
 * `__Host-` cookies come only from this host over https, so no sibling domain can set one. Scripts cannot read them,
 * and other sites can only send them with a top-level navigation.
 */

import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { LOGIN_IDLE_MS, SIGN_IN_MS } from "../../shared/limits.ts"
import { encryptText } from "../auth/encryption.ts"
import { ROLES } from "../platform/rpc/claims.ts"
import { tenantIdSchema } from "../platform/tenant-id.ts"
import { decryptCookie, formatCookie, listCookies, MAX_COOKIE_CHARS } from "./sealed-cookies.ts"

const LOGIN_COOKIE = "__Host-cuecard"
const TRANSACTION_COOKIE = "__Host-cuecard-signin"

/**
 * Number of characters of `state` in a transaction cookie's name. With them, several tabs can sign in at the same time.
 */
const STATE_NAME_CHARS = 12

/** Maximum number of unfinished sign-ins in a browser. Starting another one removes the oldest. SPEC SI2. */
export const MAX_TRANSACTIONS = 5

const text = v.pipe(v.string(), v.maxLength(MAX_COOKIE_CHARS))

/** The user's name and role from the tenant's list, as read for an earlier token. */
const admissionSchema = v.object({
  name: v.nullable(text),
  role: v.picklist(ROLES),
  /** The directory's version at that time. After a later change by an administrator, the list is read again. */
  version: v.number(),
  /** Milliseconds since 1970. */
  at: v.number(),
})

const loginSchema = v.object({
  tenant: tenantIdSchema,
  user: idSchema,
  login: text,
  secret: text,
  admission: v.optional(admissionSchema),
  /** The name of the provider. Absent from cookies of earlier versions. */
  provider: v.optional(text),
})

const transactionSchema = v.object({
  tenant: tenantIdSchema,
  provider: text,
  /** The issuer's generation, so that the provider's response is not used for a replaced issuer. */
  generation: v.number(),
  state: text,
  nonce: text,
  verifier: text,
  to: text,
  /** Milliseconds since 1970. */
  expires: v.number(),
})

export type Admission = v.InferOutput<typeof admissionSchema>

/** The signed-in user, and the secret that proves the sign-in. */
export type LoginCookie = v.InferOutput<typeof loginSchema>

/** A sign-in between `/auth/login` and `/auth/callback`. */
export type SignInTransaction = v.InferOutput<typeof transactionSchema>

export async function formatLoginCookie(secret: string, cookie: LoginCookie): Promise<string> {
  return formatCookie(LOGIN_COOKIE, await encryptText(secret, LOGIN_COOKIE, JSON.stringify(cookie)), LOGIN_IDLE_MS)
}

/** Returns the cookie of a new transaction, and the removals of the oldest cookies if the browser has too many. */
export async function formatTransactionCookies(
  secret: string,
  transaction: SignInTransaction,
  header: string | null,
): Promise<string[]> {
  const sealed = await encryptText(secret, TRANSACTION_COOKIE, JSON.stringify(transaction))
  // Browsers send the oldest cookies first.
  const names = listCookies(header).flatMap(({ name }) => (name.startsWith(`${TRANSACTION_COOKIE}-`) ? [name] : []))
  const old = names.slice(0, Math.max(0, names.length - MAX_TRANSACTIONS + 1))
  return [
    ...old.map((name) => formatCookie(name, "", 0)),
    formatCookie(nameTransaction(transaction.state), sealed, SIGN_IN_MS),
  ]
}

/** Removes the cookie of a transaction that has ended. The cookies of other tabs are kept. */
export function removeTransactionCookie({ state }: Pick<SignInTransaction, "state">): string {
  return formatCookie(nameTransaction(state), "", 0)
}

function nameTransaction(state: string): string {
  return `${TRANSACTION_COOKIE}-${state.slice(0, STATE_NAME_CHARS)}`
}

export const NO_LOGIN_COOKIE = formatCookie(LOGIN_COOKIE, "", 0)

/** Reads the cookie of a sign-in; null if there is no valid one. `header`: the request's `Cookie`. */
export async function readLoginCookie(secret: string, header: string | null): Promise<LoginCookie | null> {
  const parsed = v.safeParse(loginSchema, await decryptCookie(secret, LOGIN_COOKIE, header))
  return parsed.success ? parsed.output : null
}

/**
 * Returns the transaction with this `state`. Null if this browser has no such transaction, or if the transaction has
 * expired.
 */
export async function readTransactionCookie(
  secret: string,
  header: string | null,
  state: string,
  now: number,
): Promise<SignInTransaction | null> {
  const cookie = await decryptCookie(secret, TRANSACTION_COOKIE, header, nameTransaction(state))
  const parsed = v.safeParse(transactionSchema, cookie)
  return parsed.success && parsed.output.state === state && now < parsed.output.expires ? parsed.output : null
}
