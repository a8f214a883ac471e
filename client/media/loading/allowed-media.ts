/**
 * allowed-media.ts: decides which media may be loaded without asking the user.
 *
 * Stored assets load at once. Media from other hosts loads after a click, or at once if the tenant allows the host. A
 * click allows that URL until the page is closed. Source: SPEC PG40.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { PageSettings } from "../../../shared/protocol/http-body.ts"
import { type DisplayableKind, isAssetUrl, learnedKinds } from "../../files/remote-media.ts"

/** URLs that the user clicked. */
const clickedUrls: Signal<ReadonlySet<string>> = signal(new Set<string>())

export function recordClick(url: string): void {
  clickedUrls.value = new Set(clickedUrls.peek()).add(url)
}

/** Records the kind of a URL that the user clicked. */
export function learnKind(url: string, kind: DisplayableKind): void {
  recordClick(url)
  learnedKinds.value = new Map(learnedKinds.peek()).set(url, kind)
}

/** Resets the state to that of a new page, for tests. */
export function forgetClicks(): void {
  clickedUrls.value = new Set()
  learnedKinds.value = new Map()
}

export function isLoadAllowed(url: string, settings: ReadonlySignal<PageSettings>): boolean {
  return isAssetUrl(url) || clickedUrls.value.has(url) || settings.value.media_hosts.includes(parseHostName(url))
}

function parseHostName(url: string): string {
  try {
    return new URL(url).hostname
  } catch {
    return ""
  }
}
