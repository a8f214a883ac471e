/**
 * remote-media.ts: what may be fetched without being asked for.
 *
 * Our own files at once; what lies elsewhere when its reader clicks, or where the tenant allows its host (law 11).
 * A click holds for its address as long as the page lives. Source: SPEC PG40.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { parseAssetUrl } from "../../shared/protocol/asset-url.ts"
import type { PageSettings } from "../../shared/protocol/http-body.ts"

/** What is allowed before the server has said what is, and where it does not say. */
export const EMPTY_SETTINGS: PageSettings = { media_hosts: [], embed_origins: [] }

export function isOwnMediaUrl(url: string): boolean {
  return parseAssetUrl(url) !== null
}

/** Addresses that the reader clicked. */
const clickedUrls: Signal<ReadonlySet<string>> = signal(new Set<string>())

export function recordClick(url: string): void {
  clickedUrls.value = new Set(clickedUrls.peek()).add(url)
}

export const DISPLAYABLE_KINDS = ["image", "audio", "video"] as const
export type DisplayableKind = (typeof DISPLAYABLE_KINDS)[number]

/** What addresses turned out to be that do not say so themselves. */
const learnedKinds: Signal<ReadonlyMap<string, DisplayableKind>> = signal(new Map<string, DisplayableKind>())

/** The reader clicked it, and it is of this kind. */
export function learnKind(url: string, kind: DisplayableKind): void {
  recordClick(url)
  learnedKinds.value = new Map(learnedKinds.peek()).set(url, kind)
}

export function getLearnedKind(url: string): DisplayableKind | null {
  return learnedKinds.value.get(url) ?? null
}

/** A test begins as a page does. */
export function forgetClicks(): void {
  clickedUrls.value = new Set()
  learnedKinds.value = new Map()
}

/** May it be fetched now? */
export function isLoadAllowed(url: string, settings: ReadonlySignal<PageSettings>): boolean {
  return isOwnMediaUrl(url) || clickedUrls.value.has(url) || settings.value.media_hosts.includes(parseHostName(url))
}

function parseHostName(url: string): string {
  try {
    return new URL(url).hostname
  } catch {
    return ""
  }
}

/** Longest wait for the words of a refusal, in milliseconds. */
const REFUSAL_TIMEOUT_MS = 10_000

export const UNREACHABLE_TEXT = "It could not be loaded."
export const GONE_TEXT = "It is no longer available."

/** The server's words for it. */
export async function readRefusal(response: Response): Promise<string> {
  const text: unknown = Reflect.get(Object(await response.json()), "text")
  return typeof text === "string" ? text : UNREACHABLE_TEXT
}

/** Why an address gives nothing, in the server's words; null where it gives something. An element that fails does not tell. */
export async function fetchFailureReason(href: string): Promise<string | null> {
  try {
    const response = await fetch(href, { signal: AbortSignal.timeout(REFUSAL_TIMEOUT_MS) })
    if (response.ok) {
      void response.body?.cancel()
      return null
    }
    return await readRefusal(response)
  } catch {
    return UNREACHABLE_TEXT
  }
}
