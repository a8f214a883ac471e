/**
 * connect-cookie.ts: the cookie between the start of a connection to an MCP server and its callback. It binds the
 * callback to the browser and to the user who started the connection. Source: SPEC MP12.
 */

import * as v from "valibot"
import { SIGN_IN_MS } from "../../shared/limits.ts"
import { idSchema } from "../../shared/protocol/event.ts"
import { encryptText } from "../auth/encryption.ts"
import { tenantIdSchema } from "../platform/tenant-id.ts"
import { decryptCookie, formatCookie, listCookies, MAX_COOKIE_CHARS } from "./sealed-cookies.ts"

const CONNECT_COOKIE = "__Host-cuecard-connect"

/**
 * Number of characters of `state` in a cookie's name. These characters distinguish connections that are in progress at
 * the same time.
 */
const STATE_NAME_CHARS = 12

/** Maximum number of unfinished connections in a browser. Starting another one removes the oldest. */
const MAX_CONNECTIONS = 3

const text = v.pipe(v.string(), v.maxLength(MAX_COOKIE_CHARS))

const connectionSchema = v.object({
  tenant: tenantIdSchema,
  user: idSchema,
  server: text,
  /** A digest of the client, so that the code is not redeemed with a client that has changed in the meantime. */
  client: text,
  state: text,
  verifier: text,
  /** Milliseconds since 1970. */
  expires: v.number(),
})

/** A connection that a user has started. */
export type StartedConnection = v.InferOutput<typeof connectionSchema>

/** Returns the cookie of a new connection, and the removals of the oldest cookies if the browser has too many. */
export async function formatConnectCookies(
  secret: string,
  started: Omit<StartedConnection, "expires">,
  header: string | null,
): Promise<string[]> {
  const expires = Date.now() + SIGN_IN_MS
  const sealed = await encryptText(secret, CONNECT_COOKIE, JSON.stringify({ ...started, expires }))
  // Browsers send the oldest cookies first.
  const names = listCookies(header).flatMap(({ name }) => (name.startsWith(`${CONNECT_COOKIE}-`) ? [name] : []))
  const old = names.slice(0, Math.max(0, names.length - MAX_CONNECTIONS + 1))
  return [...old.map((name) => formatCookie(name, "", 0)), formatCookie(nameCookie(started.state), sealed, SIGN_IN_MS)]
}

/**
 * Returns the connection with this `state`. Null if this browser has started no such connection, or if the connection
 * has expired.
 */
export async function readConnectCookie(
  secret: string,
  header: string | null,
  state: string,
): Promise<StartedConnection | null> {
  const cookie = await decryptCookie(secret, CONNECT_COOKIE, header, nameCookie(state))
  const parsed = v.safeParse(connectionSchema, cookie)
  return parsed.success && parsed.output.state === state && Date.now() < parsed.output.expires ? parsed.output : null
}

export function removeConnectCookie({ state }: Pick<StartedConnection, "state">): string {
  return formatCookie(nameCookie(state), "", 0)
}

function nameCookie(state: string): string {
  return `${CONNECT_COOKIE}-${state.slice(0, STATE_NAME_CHARS)}`
}
