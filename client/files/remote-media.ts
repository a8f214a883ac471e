/**
 * remote-media.ts: what is known about media before the code that shows it (allowed-media.ts) is loaded. Source: SPEC
 * PG40.
 */

import { type Signal, signal } from "@preact/signals"
import { parseAssetUrl } from "../../shared/protocol/asset-url.ts"

export function isAssetUrl(url: string): boolean {
  return parseAssetUrl(url) !== null
}

export const DISPLAYABLE_KINDS = ["image", "audio", "video"] as const
export type DisplayableKind = (typeof DISPLAYABLE_KINDS)[number]

/** Media kinds determined by loading the URL, for URLs that don't reveal their kind. */
export const learnedKinds: Signal<ReadonlyMap<string, DisplayableKind>> = signal(new Map<string, DisplayableKind>())

export function getLearnedKind(url: string): DisplayableKind | null {
  return learnedKinds.value.get(url) ?? null
}
