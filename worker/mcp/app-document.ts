/**
 * app-document.ts: the stored form of an MCP App. The first line is JSON with the app's server and the origins that the
 * server declares; the rest is the server's document. Pure.
 *
 * The line is part of the stored bytes, so two servers with equal documents have different files. Which of the origins
 * an app may use is decided when the app is served (SPEC MA4).
 */

import { APP_MIME_TYPE, MAX_APP_BYTES } from "../../shared/asset-limits.ts"
import { isJsonObject, parseJson } from "../../shared/json.ts"

/** Maximum number of declared origins of each kind, and the maximum length of one, in characters. */
const MAX_DECLARED = 32
const MAX_ORIGIN_CHARS = 256

/**
 * The origins that the server declares. `connect`: for requests. `resource`: for scripts, styles, fonts, images and
 * media.
 */
export interface AppOrigins {
  readonly connect: readonly string[]
  readonly resource: readonly string[]
}

export interface AppDocument extends AppOrigins {
  readonly server: string
  readonly html: string
}

/**
 * Reads the answer to `resources/read`. Returns null if it contains no app with this URI, or if the app is too large.
 * SPEC MA2.
 */
export function readAppResource(answer: unknown, server: string, uri: string): AppDocument | null {
  const contents = isJsonObject(answer) ? answer["contents"] : null
  const content = (Array.isArray(contents) ? contents : []).find(
    (content) => isJsonObject(content) && content["uri"] === uri,
  )
  if (!isJsonObject(content) || !isAppType(content["mimeType"])) return null
  const html = readHtml(content)
  if (html === null || new TextEncoder().encode(html).byteLength > MAX_APP_BYTES) return null
  const meta = isJsonObject(content["_meta"]) ? content["_meta"] : {}
  const ui = isJsonObject(meta["ui"]) ? meta["ui"] : {}
  const csp = isJsonObject(ui["csp"]) ? ui["csp"] : {}
  return { server, html, connect: readOrigins(csp["connectDomains"]), resource: readOrigins(csp["resourceDomains"]) }
}

export function encodeApp({ html, ...head }: AppDocument): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(head)}\n${html}`)
}

/** Decodes a stored app. Returns null if `encodeApp` did not write the text. */
export function decodeApp(text: string): AppDocument | null {
  const end = text.indexOf("\n")
  const head = end < 0 ? undefined : parseJson(text.slice(0, end), 4)
  if (!isJsonObject(head)) return null
  const { server, connect, resource } = head
  if (typeof server !== "string") return null
  return { server, connect: readOrigins(connect), resource: readOrigins(resource), html: text.slice(end + 1) }
}

/** Returns the origins of `allowed` that the server declares, in the form of policy sources. */
export function intersectOrigins(declared: readonly string[], allowed: readonly string[]): string[] {
  return allowed.flatMap((origin) => {
    const socket = origin.replace(/^http/, "ws")
    return [origin, socket].filter((allowedOrigin) => declared.some((source) => matchesSource(source, allowedOrigin)))
  })
}

/**
 * Whether a source matches an origin. `https://*.example.com` matches all hosts below `example.com`, as in a policy.
 */
function matchesSource(source: string, origin: string): boolean {
  const [scheme = "", host = ""] = source.split("://")
  if (!host.startsWith("*.")) return source === origin
  return origin.startsWith(`${scheme}://`) && origin.slice(scheme.length + 3).endsWith(host.slice(1))
}

function isAppType(value: unknown): boolean {
  return typeof value === "string" && value.toLowerCase().replace(/\s/g, "") === APP_MIME_TYPE
}

function readHtml({ text, blob }: { readonly [key: string]: unknown }): string | null {
  if (typeof text === "string") return text.toWellFormed()
  if (typeof blob !== "string" || blob.length > MAX_APP_BYTES * 1.4) return null
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(blob), (unit) => unit.charCodeAt(0)))
  } catch {
    return null
  }
}

function readOrigins(value: unknown): string[] {
  const origins = (Array.isArray(value) ? value : []).filter((origin) => typeof origin === "string")
  return origins.slice(0, MAX_DECLARED).filter((origin) => origin.length <= MAX_ORIGIN_CHARS)
}
