/**
 * sealed-cookies.ts: encrypted cookies, which nobody else can read or create.
 *
 * `__Host-` cookies come only from this host over https, so no sibling domain can set one. Scripts cannot read them,
 * and other sites can only send them with a top-level navigation.
 */

import { parseJson } from "../../shared/json.ts"
import { decryptText } from "../auth/encryption.ts"

/** Maximum length of a cookie that is decrypted, in characters. Browsers store at most 4 KB. */
export const MAX_COOKIE_CHARS = 4_096

/**
 * Decrypts a cookie from the request's `Cookie` header, and parses its JSON. Null if there is no such cookie, or if it
 * was not created with this secret.
 */
export async function decryptCookie(
  secret: string,
  purpose: string,
  header: string | null,
  name = purpose,
): Promise<unknown> {
  const sealed = listCookies(header).find((cookie) => cookie.name === name)?.value
  if (sealed === undefined || sealed === "" || sealed.length > MAX_COOKIE_CHARS) return null
  return parseJson((await decryptText(secret, purpose, sealed)) ?? "")
}

export function listCookies(header: string | null): { readonly name: string; readonly value: string }[] {
  return (header ?? "").split(";").map((pair) => {
    const at = pair.indexOf("=")
    return { name: pair.slice(0, at).trim(), value: pair.slice(at + 1).trim() }
  })
}

/** Formats a cookie for this host only, which scripts cannot read. A lifetime of 0 removes it. */
export function formatCookie(name: string, value: string, maxAgeMs: number): string {
  return `${name}=${value}; Path=/; Max-Age=${Math.floor(maxAgeMs / 1000)}; HttpOnly; Secure; SameSite=Lax`
}
