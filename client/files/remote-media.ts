/**
 * remote-media.ts: what may be fetched without being asked for.
 *
 * Our own files at once; what lies elsewhere when its reader clicks, or where the tenant allows its host (law 11).
 * A click holds for its address as long as the page lives. Source: SPEC PG40.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { PageSettings } from "../../shared/protocol/asset.ts"

/** What is allowed before the server has said what is, and where it does not say. */
export const NO_SETTINGS: PageSettings = { media_hosts: [], embed_origins: [] }

const OWN = /^\/media\/[A-Za-z0-9_-]{1,64}$/

export function isOwn(url: string): boolean {
  return OWN.test(url)
}

/** Addresses that the reader clicked. */
const clicked: Signal<ReadonlySet<string>> = signal(new Set<string>())

export function click(url: string): void {
  clicked.value = new Set(clicked.peek()).add(url)
}

export const SHOWN = ["image", "audio", "video"] as const
export type ShownKind = (typeof SHOWN)[number]

/** What addresses turned out to be that do not say so themselves. */
const learned: Signal<ReadonlyMap<string, ShownKind>> = signal(new Map<string, ShownKind>())

/** The reader clicked it, and it is of this kind. */
export function learn(url: string, kind: ShownKind): void {
  click(url)
  learned.value = new Map(learned.peek()).set(url, kind)
}

export function kindAt(url: string): ShownKind | null {
  return learned.value.get(url) ?? null
}

/** A test begins as a page does. */
export function forgetClicks(): void {
  clicked.value = new Set()
  learned.value = new Map()
}

/** May it be fetched now? */
export function isAllowed(url: string, settings: ReadonlySignal<PageSettings>): boolean {
  return isOwn(url) || clicked.value.has(url) || settings.value.media_hosts.includes(hostNameOf(url))
}

function hostNameOf(url: string): string {
  try {
    return new URL(url).hostname
  } catch {
    return ""
  }
}

/** Longest wait for the words of a refusal, in milliseconds. */
const REASON_MS = 10_000

export const UNREACHED = "It could not be loaded."
export const GONE = "It is no longer available."

/** The server's words for it. */
export async function refusalIn(response: Response): Promise<string> {
  const text: unknown = Reflect.get(Object(await response.json()), "text")
  return typeof text === "string" ? text : UNREACHED
}

/** Why an address gives nothing, in the server's words; null where it gives something. An element that fails does not tell. */
export async function reasonAt(href: string): Promise<string | null> {
  try {
    const response = await fetch(href, { signal: AbortSignal.timeout(REASON_MS) })
    if (response.ok) {
      void response.body?.cancel()
      return null
    }
    return await refusalIn(response)
  } catch {
    return UNREACHED
  }
}
