/**
 * theme-properties.ts: converts a theme to CSS properties. Every value is built from a checked colour, a number or a
 * fixed list, so no tenant's text ever reaches a style. Pure. Source: SPEC TH4.
 */

import { type Color, parseColor } from "./color.ts"
import { DEFAULT_THEME, MAX_RADIUS_PX, type Theme, type ThemeDensity, type ThemeFont } from "./page-theme.ts"
import { computeBubble } from "./theme-contrast.ts"

/** Font families that come with operating systems, in order of preference. Null stands for the page's own list. */
const FAMILIES: Readonly<Record<ThemeFont, string | null>> = {
  system: null,
  humanist: 'Seravek, "Gill Sans Nova", Ubuntu, Calibri, "DejaVu Sans", "Noto Sans", sans-serif',
  geometric: 'Avenir, Montserrat, Corbel, "URW Gothic", "Noto Sans", sans-serif',
  rounded: 'ui-rounded, "Hiragino Maru Gothic ProN", Quicksand, Comfortaa, "Arial Rounded MT", Calibri, sans-serif',
  serif: 'Charter, "Bitstream Charter", "Sitka Text", Cambria, "Noto Serif", Georgia, serif',
  mono: 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "Liberation Mono", monospace',
}

const DENSITIES: Readonly<Record<ThemeDensity, string>> = { compact: "0.85", normal: "1", airy: "1.3" }

/** The properties that a theme can set. */
export type ThemeProperty = "--accent" | "--accent-text" | "--bubble" | "--font" | "--radius" | "--density"

export type ThemeProperties = Readonly<Partial<Record<ThemeProperty, string>>>

/**
 * Returns the properties that differ from the default appearance. Unknown values are left out, so any stored theme is
 * safe.
 */
export function themeToProperties(theme: Theme): ThemeProperties {
  const properties: Partial<Record<ThemeProperty, string>> = {}
  const accent = pairToValue(theme.accent.light, theme.accent.dark)
  const accentText = pairToValue(theme.accent_text.light, theme.accent_text.dark)
  if (accent !== null && accent !== pairToValue(DEFAULT_THEME.accent.light, DEFAULT_THEME.accent.dark)) {
    properties["--accent"] = accent
    const bubble = pairToValue(computeBubble(theme, "light"), computeBubble(theme, "dark"))
    if (bubble !== null) properties["--bubble"] = bubble
  }
  if (accentText !== null) properties["--accent-text"] = accentText
  const family = Object.hasOwn(FAMILIES, theme.font) ? FAMILIES[theme.font] : null
  if (family !== null) properties["--font"] = family
  const { radius } = theme
  if (Number.isInteger(radius) && radius >= 0 && radius <= MAX_RADIUS_PX) properties["--radius"] = `${radius}px`
  if (Object.hasOwn(DENSITIES, theme.density)) properties["--density"] = DENSITIES[theme.density]
  return properties
}

function pairToValue(light: Color, dark: Color): string | null {
  const colors = [parseColor(light), parseColor(dark)]
  return colors.includes(null) ? null : `light-dark(${colors.join(", ")})`
}
