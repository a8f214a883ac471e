/**
 * content-policy.ts: what the page and a canvas document may do in a browser, as headers.
 *
 * deployment, tenant's settings → POLICY → response
 * Pure.
 */

import { CANVAS_PATH } from "../../shared/protocol/asset-url.ts"
import type { TenantSettings } from "../tenant/agent-config.ts"

/** Where the page stands, and where the documents that it frames do. */
export interface PageOrigins {
  /** The page's own origin, as it was asked for. */
  readonly own: string
  /** The origin of canvas documents; null: the page's own. */
  readonly canvas: string | null
}

/** Of each of these some browser asks a reader, or tells a page about the machine. The page needs none of them. */
const BROWSER_FEATURES =
  "accelerometer camera display-capture geolocation gyroscope hid idle-detection local-fonts magnetometer " +
  "microphone midi payment publickey-credentials-create publickey-credentials-get serial usb xr-spatial-tracking"

const PAGE_PERMISSIONS = denyFeatures(BROWSER_FEATURES)

/** A document that is framed gets less yet: it has no origin that a reader could trust with anything. */
const DOCUMENT_PERMISSIONS = denyFeatures(
  `${BROWSER_FEATURES} autoplay clipboard-read clipboard-write encrypted-media fullscreen gamepad picture-in-picture screen-wake-lock window-management`,
)

function denyFeatures(features: string): string {
  return features
    .split(" ")
    .map((feature) => `${feature}=()`)
    .join(", ")
}

/** On every file of the page and every document: nothing is guessed, told or looked up beforehand. */
const BASE_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-dns-prefetch-control": "off",
}

/** What the page's HTML is served with. It is asked for each time: what the tenant allows may have changed. */
export function createPageHeaders(
  origins: PageOrigins,
  { embed_origins }: TenantSettings,
): Readonly<Record<string, string>> {
  return {
    ...BASE_HEADERS,
    "content-security-policy": createPagePolicy(origins, embed_origins),
    "permissions-policy": PAGE_PERMISSIONS,
    "cross-origin-opener-policy": "same-origin",
    // A process of its own, where a browser gives one: what never ends in a framed document does not stop the page.
    "origin-agent-cluster": "?1",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
  }
}

/**
 * Which hosts stand in it is settled by checks of the origins' letters (settings.ts, env.ts), so none of them ends a
 * directive. `frame-src` also bounds where a framed document may send itself.
 */
function createPagePolicy({ own, canvas }: PageOrigins, embeds: readonly string[]): string {
  const socket = isPlainOrigin(own) ? [own.replace(/^http/, "ws")] : []
  const frames = [canvas ?? own].filter(isPlainOrigin).map((origin) => `${origin}${CANVAS_PATH}`)
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    // Some browsers do not count a socket of the own host as 'self'.
    ["connect-src 'self'", ...socket].join(" "),
    ["frame-src", ...(frames.length === 0 ? ["'none'"] : [...frames, ...embeds])].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ")
}

/** An origin that a policy can name: no address in brackets, and no letter that ends a directive. */
export function isPlainOrigin(origin: string): boolean {
  return /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/.test(origin)
}

/**
 * What a document is served with: it may run its own script, and reach nothing. `ancestors` are the pages that may frame it.
 *
 * The sandbox takes its origin: cookies, storage and our routes are another's. `connection-allowlist` also closes what a
 * policy does not see (WebRTC, connections made beforehand), in browsers that know it.
 */
export function createDocumentHeaders(ancestors: readonly string[]): Readonly<Record<string, string>> {
  const policy = [
    "sandbox allow-scripts",
    "default-src 'none'",
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "media-src data: blob:",
    "font-src data:",
    "form-action 'none'",
    "base-uri 'none'",
    ["frame-ancestors", ...ancestors].join(" "),
    "require-trusted-types-for 'script'",
    "trusted-types default",
  ]
  return {
    ...BASE_HEADERS,
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "connection-allowlist": "()",
    "permissions-policy": DOCUMENT_PERMISSIONS,
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-store",
  }
}
