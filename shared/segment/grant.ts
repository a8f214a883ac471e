/**
 * grant.ts: what the directives of a part may name: decided once, when they are read, and stored with the part.
 *
 * directive → GRANT → part → segment
 * Which files and messages a session has, and which origins its tenant frames, changes with time; what a reader saw does
 * not. So the live path asks while text is fresh, and everybody else goes by what was granted then.
 * Pure: who knows is asked through `Resolver`.
 */

import { segmentOfAsset } from "../protocol/asset.ts"
import type { Asset } from "../protocol/event.ts"
import { MAX_NAMED } from "../limits.ts"
import { type MediaSegment, mediaSegment, ownAssetIn } from "./media-directive.ts"
import type { Grants } from "../protocol/message.ts"

/** Knows the session, as it is now. */
export interface Resolver {
  /** A file that it keeps. */
  asset(id: string): Asset | null
  /** One of its messages, that was not taken back. */
  isMessage(id: string): boolean
  /** What its tenant lets it frame. */
  origins(): readonly string[]
}

/** What directives may name, for the one who reads them. */
export interface Permit {
  isOrigin(origin: string): boolean
  isReply(id: string): boolean
  /** What a reader sees of an address; null: it is not to be had. */
  media(url: string): MediaSegment | null
}

export const NO_GRANTS: Grants = { origins: [], replies: [], assets: [] }

/** For a text by itself: without `assets` every address of a file of ours will do. */
export function permitOf({ origins = [], replies = [], assets }: Partial<Grants>): Permit {
  return {
    isOrigin: (origin) => origins.includes(origin),
    isReply: (id) => replies.includes(id),
    media(url) {
      const id = ownAssetIn(url)
      return id === null || assets === undefined ? mediaSegment(url) : shownOf(assets.find((one) => one.id === id))
    },
  }
}

function shownOf(asset: Asset | null | undefined): MediaSegment | null {
  return asset == null ? null : segmentOfAsset(asset)
}

/** The decisions of one part. */
export interface GrantBook extends Permit {
  /** What is read from now on is decided by `stored`, and what that does not know by `resolver`; null: it is refused. */
  read(stored: Grants, resolver: Resolver | null): void
  /** All that was granted; the same object while nothing is added. */
  grants(): Grants
}

/**
 * Decides each name once: a refusal stays one, also in a fresh process, which reads the stored text again before it asks
 * of anything. At most MAX_NAMED names of a part are asked for.
 *
 * Source  SPEC DR11.
 */
export function createGrantBook(): GrantBook {
  const decided = new Map<string, boolean | Asset>()
  let resolver: Resolver | null = null
  let grants = NO_GRANTS
  const decide = (kind: keyof Grants, name: string): boolean | Asset => {
    const key = `${kind} ${name}`
    const known = decided.get(key)
    if (known !== undefined) return known
    const asked = decided.size < MAX_NAMED ? resolver : null
    const granted = grantIn(grants, kind, name)
    const answer = granted ?? (asked === null ? false : ask(asked, kind, name))
    decided.set(key, answer)
    if (granted === undefined && answer !== false) grants = withGrant(grants, kind, name, answer)
    return answer
  }
  return {
    read(stored, knowing) {
      grants = stored
      resolver = knowing
    },
    grants: () => grants,
    isOrigin: (origin) => decide("origins", origin) === true,
    isReply: (id) => decide("replies", id) === true,
    media(url) {
      const id = ownAssetIn(url)
      if (id === null) return mediaSegment(url)
      const asset = decide("assets", id)
      return typeof asset === "boolean" ? null : shownOf(asset)
    },
  }
}

function grantIn(grants: Grants, kind: keyof Grants, name: string): true | Asset | undefined {
  if (kind === "assets") return grants.assets.find(({ id }) => id === name)
  return grants[kind].includes(name) ? true : undefined
}

function ask(resolver: Resolver, kind: keyof Grants, name: string): boolean | Asset {
  switch (kind) {
    case "origins":
      return resolver.origins().includes(name)
    case "replies":
      return resolver.isMessage(name)
    case "assets":
      return resolver.asset(name) ?? false
  }
}

function withGrant(grants: Grants, kind: keyof Grants, name: string, answer: true | Asset): Grants {
  if (answer !== true) return { ...grants, assets: [...grants.assets, answer] }
  return kind === "assets" ? grants : { ...grants, [kind]: [...grants[kind], name] }
}
