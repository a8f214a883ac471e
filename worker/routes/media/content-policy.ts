/**
 * content-policy.ts: response headers that restrict what the page and canvas documents can do in a browser. Pure.
 */

import { CANVAS_PATH } from "../../../shared/protocol/asset-url.ts"
import { isPlainOrigin } from "../../platform/origin.ts"
import type { TenantSettings } from "../../settings/agent-config.ts"

/** The origins of the page and of the documents that it frames. */
export interface PageOrigins {
  /** The origin of the request for the page. */
  readonly own: string
  /** The origin of canvas documents; null if it is the page's origin. */
  readonly canvas: string | null
}

/** Features for which some browsers prompt the user, or which reveal something about the machine. */
const BROWSER_FEATURES =
  "accelerometer camera display-capture geolocation gyroscope hid idle-detection local-fonts magnetometer " +
  "microphone midi payment publickey-credentials-create publickey-credentials-get serial usb xr-spatial-tracking"

/**
 * Features that the page may use, for screenshots and dictation, which the user starts. Framed documents may use
 * neither.
 */
const PAGE_FEATURES = new Set(["display-capture", "microphone"])

const PAGE_PERMISSIONS = BROWSER_FEATURES.split(" ")
  .map((feature) => (PAGE_FEATURES.has(feature) ? `${feature}=(self)` : `${feature}=()`))
  .join(", ")

/** Canvas documents may use even fewer features, because the user cannot know who wrote the documents. */
const DOCUMENT_PERMISSIONS = denyFeatures(
  `${BROWSER_FEATURES} autoplay clipboard-read clipboard-write encrypted-media fullscreen gamepad picture-in-picture screen-wake-lock window-management`,
)

function denyFeatures(features: string): string {
  return features
    .split(" ")
    .map((feature) => `${feature}=()`)
    .join(", ")
}

/** Headers of both the page and canvas documents: no content sniffing, no referrer, no early DNS lookups. */
const BASE_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-dns-prefetch-control": "off",
}

/** What differs between the pages of a deployment. */
export interface PageUse {
  /** Origins whose pages can frame this page; by default, only its own origin. */
  readonly parents?: readonly string[] | undefined
  /** Whether the page may register the service worker. */
  readonly hasWorker?: boolean
}

/**
 * Creates the headers of the page's HTML. The HTML is revalidated on every load, because the tenant's settings may
 * have changed.
 */
export function createPageHeaders(
  origins: PageOrigins,
  { embed_origins }: TenantSettings,
  use: PageUse = {},
): Readonly<Record<string, string>> {
  return {
    ...BASE_HEADERS,
    "content-security-policy": createPagePolicy(origins, embed_origins, use),
    "permissions-policy": PAGE_PERMISSIONS,
    "cross-origin-opener-policy": "same-origin",
    // Asks for a separate process, so that an endless loop in a framed document does not block the page.
    "origin-agent-cluster": "?1",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
  }
}

/**
 * Creates the page's content security policy. The origins in it have been checked for characters that end a directive
 * (tenant-settings.ts, env.ts). `frame-src` also restricts where a framed document can navigate itself.
 */
function createPagePolicy(
  { own, canvas }: PageOrigins,
  embeds: readonly string[],
  { parents = ["'self'"], hasWorker = false }: PageUse,
): string {
  const isRegistering = hasWorker && isPlainOrigin(own)
  const socket = isPlainOrigin(own) ? [own.replace(/^http/, "ws")] : []
  const frames = [canvas ?? own].filter(isPlainOrigin).map((origin) => `${origin}${CANVAS_PATH}`)
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // Allows only this script, and no worker from a blob.
    isRegistering ? `worker-src ${own}/service-worker.js` : "worker-src 'none'",
    "font-src 'self'",
    "manifest-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    // In some browsers, 'self' does not include WebSockets to the same host.
    ["connect-src 'self'", ...socket].join(" "),
    ["frame-src", ...(frames.length === 0 ? ["'none'"] : [...frames, ...embeds])].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    ["frame-ancestors", ...parents].join(" "),
    "require-trusted-types-for 'script'",
    // Registering a worker requires a Trusted Types policy. This policy can be created once, and returns only the path
    // of that script.
    isRegistering ? "trusted-types cuecard-service-worker" : "trusted-types 'none'",
  ].join("; ")
}

/** The origins that an MCP App may use, in the form of policy sources. Other documents have none. */
export interface DocumentSources {
  readonly connect: readonly string[]
  readonly resource: readonly string[]
}

const NO_SOURCES: DocumentSources = { connect: [], resource: [] }

/**
 * Creates the headers of a canvas document: the document can run its own inline scripts, and has no network access
 * except to `sources`. Only pages of `ancestors` can frame it.
 *
 * The sandbox gives the document an opaque origin, so the document has no cookies, no storage and no access to our
 * routes. In browsers that support it, `connection-allowlist` also blocks what a policy does not cover (WebRTC, early
 * connections).
 */
export function createDocumentHeaders(
  ancestors: readonly string[],
  { connect, resource }: DocumentSources = NO_SOURCES,
): Readonly<Record<string, string>> {
  const policy = [
    "sandbox allow-scripts",
    "default-src 'none'",
    ["script-src 'unsafe-inline'", ...resource].join(" "),
    ["style-src 'unsafe-inline'", ...resource].join(" "),
    ["img-src data: blob:", ...resource].join(" "),
    ["media-src data: blob:", ...resource].join(" "),
    ["font-src data:", ...resource].join(" "),
    ...(connect.length === 0 ? [] : [["connect-src", ...connect].join(" ")]),
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
    "connection-allowlist": createAllowlist([...connect, ...resource]),
    "permissions-policy": DOCUMENT_PERMISSIONS,
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-store",
  }
}

/**
 * Formats the origins as URL patterns. A socket counts as a request to the URL of its handshake. The list also blocks
 * WebRTC. The content security policy restricts where redirects may lead.
 */
function createAllowlist(sources: readonly string[]): string {
  const origins = new Set(sources.map((source) => source.replace(/^ws/, "http")))
  const patterns = [...origins].map((origin) => `"${origin}"`).join(" ")
  return origins.size === 0 ? "()" : `(${patterns});redirects=allow`
}
