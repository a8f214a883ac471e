/**
 * grant.ts: decides which names a part's directives may use. Each decision is made once and stored with the part.
 *
 * A session's files and messages and a tenant's allowed origins change over time, but a transcript must not. The live
 * path therefore calls the resolver while the text is new, and every later read uses the stored grants. Pure, except
 * for the `Resolver` that the caller passes in.
 */

import { assetToSegment } from "../protocol/asset.ts"
import type { Asset } from "../protocol/event.ts"
import { MAX_GRANT_NAMES } from "../limits.ts"
import { parseAssetUrl } from "../protocol/asset-url.ts"
import { type MediaSegment, urlToMediaSegment } from "./media-directive.ts"
import type { Grants } from "../protocol/message.ts"

/** Looks up names in the current state of the session. */
export interface Resolver {
  /** Returns an asset that the session stores; null if there is none. */
  findAsset(id: string): Asset | null
  /** Returns whether a message exists and was not withdrawn. */
  hasMessage(id: string): boolean
  /** Returns the origins that the tenant allows in frames. */
  listOrigins(): readonly string[]
}

/** Decides which targets a part's directives may name. */
export interface Permit {
  isOriginAllowed(origin: string): boolean
  isReplyAllowed(id: string): boolean
  /** Returns whether the document with this id may be embedded. */
  isCanvasAllowed(id: string): boolean
  /** Returns the segment for a media URL; null if the URL is refused. */
  resolveMedia(url: string): MediaSegment | null
}

export const NO_GRANTS: Grants = { origins: [], replies: [], assets: [] }

/**
 * Returns the permit for text with known grants. If `assets` is absent, every asset URL is accepted; if `canvases` is
 * absent, every document is accepted.
 */
export function grantsToPermit({ origins = [], replies = [], assets, canvases }: Partial<Grants>): Permit {
  return {
    isCanvasAllowed: (id) => canvases === undefined || canvases.includes(id),
    isOriginAllowed: (origin) => origins.includes(origin),
    isReplyAllowed: (id) => replies.includes(id),
    resolveMedia(url) {
      const id = parseAssetUrl(url)
      return id === null || assets === undefined
        ? urlToMediaSegment(url)
        : assetToMedia(assets.find((asset) => asset.id === id))
    },
  }
}

function assetToMedia(asset: Asset | null | undefined): MediaSegment | null {
  return asset == null ? null : assetToSegment(asset)
}

/** Makes and keeps the decisions for one part. */
export interface GrantDecider extends Permit {
  /**
   * Sets the source of subsequent decisions: first `stored`, then `resolver`. If `resolver` is null, names that aren't
   * in `stored` are refused.
   */
  setSource(stored: Grants, resolver: Resolver | null): void
  /** Returns all grants so far. Until another grant is added, the same object is returned. */
  currentGrants(): Grants
}

/**
 * Creates a decider that decides each name once. A refusal is final, even after a restart, because a restarted process
 * reads the stored text before it asks the resolver. At most MAX_GRANT_NAMES names are looked up per part.
 *
 * Source: SPEC DR11, DR17, DR18.
 */
export function createGrantDecider(): GrantDecider {
  const decided = new Map<string, boolean | Asset>()
  let resolver: Resolver | null = null
  let grants = NO_GRANTS
  const decideName = (kind: keyof Grants, name: string): boolean | Asset => {
    const key = `${kind} ${name}`
    const known = decided.get(key)
    if (known !== undefined) return known
    const activeResolver = decided.size < MAX_GRANT_NAMES ? resolver : null
    const granted = findGrant(grants, kind, name, activeResolver === null)
    const decision = granted ?? (activeResolver === null ? false : queryResolver(activeResolver, kind, name))
    decided.set(key, decision)
    if (granted === undefined) grants = addDecision(grants, kind, name, decision)
    return decision
  }
  return {
    setSource(stored, nextResolver) {
      grants = stored
      resolver = nextResolver
    },
    currentGrants: () => grants,
    isOriginAllowed: (origin) => decideName("origins", origin) === true,
    isReplyAllowed: (id) => decideName("replies", id) === true,
    isCanvasAllowed: (id) => decideName("canvases", id) === true,
    resolveMedia(url) {
      const id = parseAssetUrl(url)
      if (id === null) return urlToMediaSegment(url)
      const asset = decideName("assets", id)
      return typeof asset === "boolean" ? null : assetToMedia(asset)
    },
  }
}

function findGrant(grants: Grants, kind: keyof Grants, name: string, isStored: boolean): true | Asset | undefined {
  if (kind === "assets") return grants.assets.find(({ id }) => id === name)
  // Version 0.1.0 stored no decisions about documents and embedded every document.
  if (kind === "canvases" && grants.canvases === undefined) return isStored ? true : undefined
  return (grants[kind] ?? []).includes(name) ? true : undefined
}

function queryResolver(resolver: Resolver, kind: keyof Grants, name: string): boolean | Asset {
  switch (kind) {
    case "origins":
      return resolver.listOrigins().includes(name)
    case "replies":
      return resolver.hasMessage(name)
    case "assets":
      return resolver.findAsset(name) ?? false
    case "canvases":
      return resolver.findAsset(name)?.kind === "canvas"
  }
}

/**
 * Adds a decision to the grants. The refusal of a document sets `canvases` to an empty list, so that the text is not
 * mistaken for text written by version 0.1.0.
 */
function addDecision(grants: Grants, kind: keyof Grants, name: string, decision: boolean | Asset): Grants {
  if (typeof decision === "object") return { ...grants, assets: [...grants.assets, decision] }
  if (kind === "canvases" && grants.canvases === undefined && !decision) return { ...grants, canvases: [] }
  return kind === "assets" || !decision ? grants : { ...grants, [kind]: [...(grants[kind] ?? []), name] }
}
