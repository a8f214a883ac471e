/**
 * page-theme.ts: the appearance that a tenant gives its pages: types, limits and default values. Pure. Source: SPEC
 * TH1.
 */

import type { Color } from "./color.ts"

export const SCHEMES = ["light", "dark"] as const

export type Scheme = (typeof SCHEMES)[number]

/** A colour for each scheme. */
export type ColorPair = Readonly<Record<Scheme, Color>>

/** Fonts that the reader's system provides; no font is loaded. */
export const THEME_FONTS = ["system", "humanist", "geometric", "rounded", "serif", "mono"] as const

export type ThemeFont = (typeof THEME_FONTS)[number]

export const THEME_DENSITIES = ["compact", "normal", "airy"] as const

export type ThemeDensity = (typeof THEME_DENSITIES)[number]

/** Maximum corner radius, in pixels: a larger one would cut into the text of small cards. */
export const MAX_RADIUS_PX = 24
/**
 * Maximum length of the name, of the welcome text and of a suggestion, in characters: what fits on one or two lines on
 * a phone.
 */
export const MAX_THEME_NAME_CHARS = 40
export const MAX_WELCOME_CHARS = 120
export const MAX_SUGGESTION_CHARS = 120
/** Maximum number of suggestions: on a phone, more would push the message field out of view. */
export const MAX_SUGGESTIONS = 6

/** What an administrator sets. */
export interface Theme {
  /** The colour of links, buttons, and the edges of what is selected or focused. */
  readonly accent: ColorPair
  /** The colour of text on an accent background. */
  readonly accent_text: ColorPair
  readonly font: ThemeFont
  /** The corner radius, in whole pixels. */
  readonly radius: number
  readonly density: ThemeDensity
  /** Replaces the product's name, unless it is empty. */
  readonly name: string
  /** Replaces the heading of a new conversation, unless it is empty. */
  readonly welcome: string
  /** Replace the examples of a new conversation, unless the list is empty. */
  readonly suggestions: readonly string[]
}

/** A theme as the pages receive it. */
export interface PageTheme extends Theme {
  /** The path of the logo on the server; null for the product's own. */
  readonly logo: string | null
}

/** The response to `GET /v1/theme`. */
export interface ThemeView {
  readonly theme: PageTheme
  /** Increases with every change; 0 until the tenant sets a theme. */
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
