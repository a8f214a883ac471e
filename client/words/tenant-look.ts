/**
 * tenant-look.ts: the tenant's own strings and logo. The tenant's colours and measures are CSS properties. Source: SPEC
 * TH4.
 */

import { type Signal, signal } from "@preact/signals"
import type { ThemeHead } from "../../shared/theme/theme-head.ts"

declare global {
  /** Set by public/theme.js, if the page's head contains a theme. */
  var cuecardTheme: ThemeHead | undefined
}

const head = globalThis.cuecardTheme

/** Strings that replace those of the page, by area and name. */
export const ownTexts: Signal<ThemeHead["texts"]> = signal(head?.texts ?? {})

/** The URL of the tenant's logo; null for the product's own. */
export const logoUrl: Signal<string | null> = signal(head?.logo ?? null)
