/**
 * asset-url.ts: the URLs of assets and canvases, as they appear in segments and model text.
 *
 * Such a URL contains only an id. The page requests a signed link when it needs the bytes, so stored text never grants
 * access.
 */

import { MAX_ID_CHARS } from "../limits.ts"

/** Source of a regular expression that matches a public id. */
export const ID_PATTERN = `[A-Za-z0-9_-]{1,${MAX_ID_CHARS}}`

/** The path under which canvas documents are served. The page frames nothing else from its own origin. */
export const CANVAS_PATH = "/canvas/documents/"

export interface OwnUrl {
  readonly kind: "asset" | "canvas"
  readonly id: string
}

export function assetUrl(id: string): string {
  return `/media/${id}`
}

export function canvasUrl(id: string): string {
  return `${CANVAS_PATH}${id}/index.html`
}

const ID = new RegExp(`^${ID_PATTERN}$`)

/** Returns whether a string is a well-formed public id. */
export function isId(text: string): boolean {
  return ID.test(text)
}

const OWN_URL = new RegExp(`^(?:/media/(${ID_PATTERN})|${CANVAS_PATH}(${ID_PATTERN})/index\\.html)$`)

/** Parses a URL that `assetUrl` or `canvasUrl` can create. Returns null for any other URL. SPEC DR2, DR16. */
export function parseOwnUrl(url: string): OwnUrl | null {
  const [, assetId, canvasId] = OWN_URL.exec(url) ?? []
  if (assetId !== undefined) return { kind: "asset", id: assetId }
  return canvasId === undefined ? null : { kind: "canvas", id: canvasId }
}

/** Returns the id of the asset that a URL refers to; null for any other URL. */
export function parseAssetUrl(url: string): string | null {
  const own = parseOwnUrl(url)
  return own?.kind === "asset" ? own.id : null
}

/** Returns the id of the canvas that a URL refers to; null for any other URL. */
export function parseCanvasUrl(url: string): string | null {
  const own = parseOwnUrl(url)
  return own?.kind === "canvas" ? own.id : null
}
