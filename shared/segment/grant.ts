/**
 * grant.ts: what the directives of a part may name: decided once, when they are read, and stored with the part.
 *
 * directive → GRANT → part → segment
 * Which files and messages a session has, and which origins its tenant frames, changes with time; what a reader saw does
 * not. So the live path asks while text is fresh, and everybody else goes by what was granted then.
 * Pure: who knows is asked through `Resolver`.
 */

import { assetToSegment } from "../protocol/asset.ts"
import type { Asset } from "../protocol/event.ts"
import { MAX_GRANT_NAMES } from "../limits.ts"
import { parseAssetUrl } from "../protocol/asset-url.ts"
import { type MediaSegment, urlToMediaSegment } from "./media-directive.ts"
import type { Grants } from "../protocol/message.ts"

/** Knows the session, as it is now. */
export interface Resolver {
  /** A file that it keeps. */
  findAsset(id: string): Asset | null
  /** One of its messages, that was not taken back. */
  hasMessage(id: string): boolean
  /** What its tenant lets it frame. */
  listOrigins(): readonly string[]
}

/** What directives may name, for the one who reads them. */
export interface Permit {
  isOriginAllowed(origin: string): boolean
  isReplyAllowed(id: string): boolean
  /** What a reader sees of an address; null: it is not to be had. */
  resolveMedia(url: string): MediaSegment | null
}

export const NO_GRANTS: Grants = { origins: [], replies: [], assets: [] }

/** For a text by itself: without `assets` every address of a file of ours will do. */
export function grantsToPermit({ origins = [], replies = [], assets }: Partial<Grants>): Permit {
  return {
    isOriginAllowed: (origin) => origins.includes(origin),
    isReplyAllowed: (id) => replies.includes(id),
    resolveMedia(url) {
      const id = parseAssetUrl(url)
      return id === null || assets === undefined
        ? urlToMediaSegment(url)
        : assetToMedia(assets.find((one) => one.id === id))
    },
  }
}

function assetToMedia(asset: Asset | null | undefined): MediaSegment | null {
  return asset == null ? null : assetToSegment(asset)
}

/** The decisions of one part. */
export interface GrantDecider extends Permit {
  /** What is read from now on is decided by `stored`, and what that does not know by `resolver`; null: it is refused. */
  setSource(stored: Grants, resolver: Resolver | null): void
  /** All that was granted; the same object while nothing is added. */
  currentGrants(): Grants
}

/**
 * Decides each name once: a refusal stays one, also in a fresh process, which reads the stored text again before it asks
 * of anything. At most MAX_NAMED names of a part are asked for.
 *
 * Source  SPEC DR11, DR17, DR18.
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
    const granted = findGrant(grants, kind, name)
    const decision = granted ?? (activeResolver === null ? false : queryResolver(activeResolver, kind, name))
    decided.set(key, decision)
    if (granted === undefined && decision !== false) grants = addGrant(grants, kind, name, decision)
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
    resolveMedia(url) {
      const id = parseAssetUrl(url)
      if (id === null) return urlToMediaSegment(url)
      const asset = decideName("assets", id)
      return typeof asset === "boolean" ? null : assetToMedia(asset)
    },
  }
}

function findGrant(grants: Grants, kind: keyof Grants, name: string): true | Asset | undefined {
  if (kind === "assets") return grants.assets.find(({ id }) => id === name)
  return grants[kind].includes(name) ? true : undefined
}

function queryResolver(resolver: Resolver, kind: keyof Grants, name: string): boolean | Asset {
  switch (kind) {
    case "origins":
      return resolver.listOrigins().includes(name)
    case "replies":
      return resolver.hasMessage(name)
    case "assets":
      return resolver.findAsset(name) ?? false
  }
}

function addGrant(grants: Grants, kind: keyof Grants, name: string, decision: true | Asset): Grants {
  if (decision !== true) return { ...grants, assets: [...grants.assets, decision] }
  return kind === "assets" ? grants : { ...grants, [kind]: [...grants[kind], name] }
}
