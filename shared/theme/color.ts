/** color.ts: opaque sRGB colours as `#rrggbb`: luminance, contrast as WCAG 2.2 defines it, and mixtures. Pure. */

/** `#rrggbb` in lower case. `parseColor` returns nothing else. */
export type Color = string

const COLOR = /^#[0-9a-f]{6}$/

/** Parses `#rrggbb` in upper or lower case; returns null for everything else. */
export function parseColor(text: string): Color | null {
  const color = text.toLowerCase()
  return COLOR.test(color) ? color : null
}

/** Returns the components of a colour: red, green and blue, from 0 to 255. */
function splitColor(color: Color): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
}

/** Returns the relative luminance, from 0 (black) to 1 (white). */
function computeLuminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = splitColor(color).map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Returns the contrast ratio of two colours, from 1 to 21. Their order does not matter. */
export function computeContrast(one: Color, other: Color): number {
  const [first, second] = [computeLuminance(one), computeLuminance(other)]
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05)
}

/** Mixes two colours in sRGB, as the CSS function `color-mix` does. `share`: the proportion of `one`, from 0 to 1. */
export function mixColors(one: Color, other: Color, share: number): Color {
  const others = splitColor(other)
  const parts = splitColor(one).map((part, at) => Math.round(part * share + (others[at] ?? 0) * (1 - share)))
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`
}
