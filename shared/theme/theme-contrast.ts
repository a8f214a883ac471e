/**
 * theme-contrast.ts: the colour pairs that a theme produces, and the minimum contrast of each pair. Pure. Source: SPEC
 * TH3.
 */

import { type Color, computeContrast, mixColors } from "./color.ts"
import { SCHEMES, type Scheme, type Theme } from "./page-theme.ts"

/** The colours that a theme does not change. A test compares them with client/styles/base.css. */
export const FIXED_COLORS: Readonly<Record<"ground" | "raised" | "sunken" | "text" | "muted", Record<Scheme, Color>>> =
  {
    ground: { light: "#fbfbfc", dark: "#0b0b0f" },
    raised: { light: "#ffffff", dark: "#121218" },
    sunken: { light: "#f4f4f7", dark: "#0f0f14" },
    text: { light: "#17171f", dark: "#ececf2" },
    muted: { light: "#5f5f6e", dark: "#9d9dac" },
  }

/** The proportion of the accent colour in the background of a user's message, and in tinted surfaces. */
const BUBBLE_SHARE: Readonly<Record<Scheme, number>> = { light: 0.13, dark: 0.16 }
const WASH_SHARE = 0.1

/** Minimum contrast of text, and of edges and symbols (WCAG 2.2, 1.4.3 and 1.4.11). */
const LEAST_TEXT_CONTRAST = 4.5
const LEAST_EDGE_CONTRAST = 3

/** The pairs, each named `foreground/background`. */
export const CONTRAST_PAIRS = [
  "accent_text/accent",
  "accent/ground",
  "accent/raised",
  "accent/sunken",
  "accent/wash",
  "accent/bubble",
  "text/bubble",
  "muted/bubble",
] as const

export type ContrastPair = (typeof CONTRAST_PAIRS)[number]

export interface PairContrast {
  readonly scheme: Scheme
  readonly pair: ContrastPair
  /** Rounded down to two decimals. The ratio is below `least` if and only if the pair fails. */
  readonly ratio: number
  readonly least: number
}

/** Returns the background of a user's message. */
export function computeBubble({ accent }: Pick<Theme, "accent">, scheme: Scheme): Color {
  return mixColors(accent[scheme], FIXED_COLORS.ground[scheme], BUBBLE_SHARE[scheme])
}

/** Returns the contrast of every pair in both colour schemes. */
export function listContrasts(theme: Pick<Theme, "accent" | "accent_text">): PairContrast[] {
  return SCHEMES.flatMap((scheme) => CONTRAST_PAIRS.map((pair) => measurePair(theme, scheme, pair)))
}

/** Returns the first pair whose contrast is too low; null if all pairs are readable. */
export function findLowContrast(theme: Pick<Theme, "accent" | "accent_text">): PairContrast | null {
  return listContrasts(theme).find(({ ratio, least }) => ratio < least) ?? null
}

function measurePair(theme: Pick<Theme, "accent" | "accent_text">, scheme: Scheme, pair: ContrastPair): PairContrast {
  const accent = theme.accent[scheme]
  const colors: Readonly<Record<string, Color>> = {
    accent,
    accent_text: theme.accent_text[scheme],
    bubble: computeBubble(theme, scheme),
    wash: mixColors(accent, FIXED_COLORS.raised[scheme], WASH_SHARE),
    ...Object.fromEntries(Object.entries(FIXED_COLORS).map(([name, pairs]) => [name, pairs[scheme]])),
  }
  const [front = "", ground = ""] = pair.split("/").map((name) => colors[name])
  const ratio = Math.floor(computeContrast(front, ground) * 100) / 100
  // In a user's message, the accent colour is used only for edges and the focus outline, not for text.
  return { scheme, pair, ratio, least: pair === "accent/bubble" ? LEAST_EDGE_CONTRAST : LEAST_TEXT_CONTRAST }
}
