/** element-options.ts: reads the element's attributes. Source: SPEC WG6. */

import type { WidgetOptions, WidgetTheme } from "./widget-view.ts"

/** The attributes that the element observes while it is shown. */
export const OBSERVED_ATTRIBUTES = [
  "url",
  "token-url",
  "agent",
  "session",
  "theme",
  "language",
  "layout",
  "isolate",
] as const

/** How long the site may take to return a token, in milliseconds. */
const TOKEN_TIMEOUT_MS = 20_000
/**
 * Maximum length of a token that is passed on, in characters. The limit is larger than the length of any token that a
 * server accepts.
 */
const MAX_TOKEN_CHARS = 16_384

/**
 * Reads the options. `scriptUrl` is the URL of the widget's script; the server that it names is the default. Returns
 * null if the `url` attribute is not a URL.
 */
export function readOptions(element: HTMLElement, scriptUrl: string): WidgetOptions | null {
  const url = element.getAttribute("url") ?? scriptUrl
  if (!URL.canParse(url, document.baseURI)) return null
  const { origin, protocol } = new URL(url, document.baseURI)
  if (protocol !== "https:" && protocol !== "http:") return null
  return {
    url: origin,
    agent: element.getAttribute("agent") || null,
    session: readSession(element),
    theme: readTheme(element),
    languages: readLanguages(element),
    canClose: isButton(element),
  }
}

export function isButton(element: HTMLElement): boolean {
  return element.getAttribute("layout") === "button"
}

export function readSession(element: HTMLElement): string | null {
  const session = element.getAttribute("session") ?? ""
  return /^[\w-]{1,64}$/.test(session) ? session : null
}

export function readTheme(element: HTMLElement): WidgetTheme {
  const theme = element.getAttribute("theme")
  return theme === "light" || theme === "dark" ? theme : "system"
}

/**
 * Returns languages in order of preference: the element's own language or that of the text around it, then the user's
 * languages.
 */
export function readLanguages(element: HTMLElement): readonly string[] {
  const own = element.getAttribute("language") || element.closest("[lang]")?.getAttribute("lang")
  return own ? [own, ...navigator.languages] : navigator.languages
}

/** Requests a token from the site, with the user's cookies for the site. Rejects with a `TokenError`. */
export async function fetchToken(tokenUrl: string): Promise<string> {
  const response = await fetch(tokenUrl, {
    method: "POST",
    credentials: "include",
    headers: { accept: "application/json" },
    signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS),
  })
  if (response.status === 401 || response.status === 403) throw new TokenError(true)
  const body: unknown = response.ok ? await response.json().catch(() => null) : null
  return checkToken(Reflect.get(Object(body), "token"))
}

/** Throws a `TokenError` if the value can't be a token. */
export function checkToken(value: unknown): string {
  if (typeof value !== "string" || !/^[\x21-\x7e]+$/.test(value) || value.length > MAX_TOKEN_CHARS)
    throw new TokenError(false)
  return value
}

/**
 * Thrown if the site returned no token. `isRefused` is true if nobody is signed in there, so asking again is
 * pointless.
 */
export class TokenError extends Error {
  readonly isRefused: boolean
  constructor(isRefused: boolean) {
    super(isRefused ? "The site refused to issue a token." : "The site issued no token.")
    this.isRefused = isRefused
  }
}
