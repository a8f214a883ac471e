/**
 * tool/raster.ts: a sheet of pixels, and how to draw on it.
 *
 * chart, picture → RASTER → PNG
 */

import { glyphOf, GLYPH_HEIGHT, GLYPH_WIDTH } from "./font.ts"

/** Red, green, blue; 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number]

export interface Raster {
  readonly width: number
  readonly height: number
  /** Three bytes a pixel, row by row. */
  readonly pixels: Uint8Array
}

export function createRaster(width: number, height: number): Raster {
  return { width, height, pixels: new Uint8Array(width * height * 3) }
}

/** Mixes one pixel with a colour; `alpha` from 0 to 1. What lies outside is left out. */
export function blend({ width, height, pixels }: Raster, x: number, y: number, color: Color, alpha = 1): void {
  if (x < 0 || y < 0 || x >= width || y >= height) return
  const at = (y * width + x) * 3
  for (let c = 0; c < 3; c++) {
    const old = pixels[at + c] ?? 0
    pixels[at + c] = old + ((color[c] ?? 0) - old) * alpha
  }
}

export function fillRect(raster: Raster, x: number, y: number, w: number, h: number, color: Color): void {
  const [left, top] = [Math.round(x), Math.round(y)]
  for (let row = top; row < Math.round(y + h); row++) {
    for (let column = left; column < Math.round(x + w); column++) blend(raster, column, row, color)
  }
}

/** A disc with a soft edge, `edge` pixels wide. */
export function fillDisc(
  raster: Raster,
  cx: number,
  cy: number,
  r: number,
  edge: number,
  color: Color,
  alpha = 1,
): void {
  const reach = Math.ceil(r + edge)
  for (let y = Math.floor(cy) - reach; y <= cy + reach; y++) {
    for (let x = Math.floor(cx) - reach; x <= cx + reach; x++) {
      const inside = Math.min(1, Math.max(0, (r + edge - Math.hypot(x - cx, y - cy)) / edge))
      if (inside > 0) blend(raster, x, y, color, inside * inside * (3 - 2 * inside) * alpha)
    }
  }
}

export function mix(a: Color, b: Color, t: number): Color {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t]
}

/** Width of a text, in pixels. */
export function textWidth(text: string, scale: number): number {
  return Math.max(0, text.length * (GLYPH_WIDTH + 1) - 1) * scale
}

/** One line of text from its upper left corner; what the font does not have is `?`. */
export function drawText(raster: Raster, x: number, y: number, text: string, scale: number, color: Color): void {
  Array.from(text).forEach((char, i) => {
    const columns = glyphOf(char)
    const left = Math.round(x) + i * (GLYPH_WIDTH + 1) * scale
    columns.forEach((bits, column) => {
      for (let row = 0; row <= GLYPH_HEIGHT; row++) {
        if (bits & (1 << row)) fillRect(raster, left + column * scale, Math.round(y) + row * scale, scale, scale, color)
      }
    })
  })
}

/** The text, as far as it fits into so many pixels. */
export function fitText(text: string, scale: number, width: number): string {
  const most = Math.max(1, Math.floor((width / scale + 1) / (GLYPH_WIDTH + 1)))
  return text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1))}.`
}

/** Numbers between 0 and 1, the same for the same words. */
export function chanceFrom(words: string): () => number {
  let state = 0x811c9dc5
  for (let i = 0; i < words.length; i++) state = Math.imul(state ^ words.charCodeAt(i), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    const more = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((more ^ (more >>> 14)) >>> 0) / 2 ** 32
  }
}
