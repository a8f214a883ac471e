/**
 * page-theme.ts: the appearance that a tenant gives its pages: types, limits and default values. Pure. Source: SPEC
 * TH1.
 */

import type { Color } from "./color.ts"

export const SCHEMES = ["light", "dark"] as const

export type Scheme = (typeof SCHEMES)[number]

/** A colour for each scheme. */
export type ColorPair = Readonly<Record<Scheme, Color>>

/** Fonts of the reader's system. Nothing is loaded. */
export const THEME_FONTS = ["system", "humanist", "geometric", "rounded", "serif", "mono"] as const

export type ThemeFont = (typeof THEME_FONTS)[number]

export const THEME_DENSITIES = ["compact", "normal", "airy"] as const

export type ThemeDensity = (typeof THEME_DENSITIES)[number]

/** Largest radius of a corner, in pixels: a larger one cuts into the text of small cards. */
export const MAX_RADIUS_PX = 24
/** Longest name, welcome text and suggestion, in characters: what fits one or two lines of a phone. */
export const MAX_THEME_NAME_CHARS = 40
export const MAX_WELCOME_CHARS = 120
export const MAX_SUGGESTION_CHARS = 120
/** Maximum number of suggestions: more would push the message field of a phone out of view. */
export const MAX_SUGGESTIONS = 6

/** What an administrator sets. */
export interface Theme {
  /** Links, buttons, and the edges of what is selected or focused. */
  readonly accent: ColorPair
  /** Text on an accent background. */
  readonly accent_text: ColorPair
  readonly font: ThemeFont
  /** The radius of corners, in whole pixels. */
  readonly radius: number
  readonly density: ThemeDensity
  /** Replaces the product's name. Empty: it stays. */
  readonly name: string
  /** Replaces the heading of a new conversation. Empty: it stays. */
  readonly welcome: string
  /** Replace the examples of a new conversation. Empty: they stay. */
  readonly suggestions: readonly string[]
}

/** A theme as the pages get it. */
export interface PageTheme extends Theme {
  /** The path of the logo on the server; null for the product's own. */
  readonly logo: string | null
}

/** The response to `GET /v1/theme`. */
export interface ThemeView {
  readonly theme: PageTheme
  /** Increases with every change; 0 as long as the tenant has set nothing. */
  readonly revision: number
}

/** The appearance without a theme. A test compares it with client/styles/base.css. */
export const DEFAULT_THEME: Theme = {
  accent: { light: "#5a43d6", dark: "#a899ff" },
  accent_text: { light: "#ffffff", dark: "#0b0b0f" },
  font: "system",
  radius: 14,
  density: "normal",
  name: "",
  welcome: "",
  suggestions: [],
}
