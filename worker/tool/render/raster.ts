/**
 * raster.ts: an RGB image in memory, and drawing on it. Pure.
 */

import { hashText } from "../hash-text.ts"
import { createStrokes, measureChar, type Stroke } from "./stroke-font.ts"

/** Components from 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number]

export interface Raster {
  readonly width: number
  readonly height: number
  /** Three bytes per pixel, row by row. */
  readonly pixels: Uint8Array
}

export function createRaster(width: number, height: number): Raster {
  return { width, height, pixels: new Uint8Array(width * height * 3) }
}

/** Blends a colour into a pixel; `alpha` from 0 to 1. Pixels outside the image are ignored. */
export function blendPixel({ width, height, pixels }: Raster, x: number, y: number, color: Color, alpha = 1): void {
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
    for (let column = left; column < Math.round(x + w); column++) blendPixel(raster, column, row, color)
  }
}

/** Draws a disc with a soft edge of `edge` pixels. */
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
      if (inside > 0) blendPixel(raster, x, y, color, inside * inside * (3 - 2 * inside) * alpha)
    }
  }
}

export function mixColors(a: Color, b: Color, t: number): Color {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t]
}

/** Space between two letters, in units of the font grid. */
const LETTER_GAP = 1.5
/** Half the width of a stroke, in units of the font grid. */
const PEN_RADIUS = 0.52

/** Returns the width of the text, in pixels. */
export function measureText(text: string, scale: number): number {
  const letters = Array.from(text)
  const units = letters.reduce((sum, char) => sum + measureChar(char), LETTER_GAP * Math.max(0, letters.length - 1))
  return units * scale
}

/** Draws a line of text. `x` and `y` are its upper left corner. Characters that the font lacks become `?`. */
export function drawText(raster: Raster, x: number, y: number, text: string, scale: number, color: Color): void {
  let left = x
  for (const char of Array.from(text)) {
    for (const stroke of createStrokes(char)) drawStroke(raster, left, y, stroke, scale, color)
    left += (measureChar(char) + LETTER_GAP) * scale
  }
}

/** Draws a line with a round pen and a soft edge. Where strokes overlap, the darker colour wins. */
function drawStroke(raster: Raster, left: number, top: number, stroke: Stroke, scale: number, color: Color): void {
  const [x1, y1, x2, y2] = stroke.map((at) => (at + 0.5) * scale) as [number, number, number, number]
  const [dx, dy, reach] = [x2 - x1, y2 - y1, PEN_RADIUS * scale + 1]
  const square = dx * dx + dy * dy
  for (let y = Math.floor(top + Math.min(y1, y2) - reach); y <= top + Math.max(y1, y2) + reach; y++) {
    for (let x = Math.floor(left + x1 - reach); x <= left + x2 + reach; x++) {
      const [px, py] = [x + 0.5 - left - x1, y + 0.5 - top - y1]
      const along = square === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / square))
      const inside = PEN_RADIUS * scale + 0.5 - Math.hypot(px - along * dx, py - along * dy)
      if (inside > 0) darkenPixel(raster, x, y, color, Math.min(1, inside))
    }
  }
}

/** Like `blendPixel` on a white background, but drawing the same pixel twice does not darken it further. */
function darkenPixel(raster: Raster, x: number, y: number, color: Color, alpha: number): void {
  const { width, height, pixels } = raster
  if (x < 0 || y < 0 || x >= width || y >= height) return
  const at = (y * width + x) * 3
  for (let c = 0; c < 3; c++) {
    const ink = 255 + ((color[c] ?? 0) - 255) * alpha
    pixels[at + c] = Math.min(pixels[at + c] ?? 0, ink)
  }
}

/** Shortens text to at most `width` pixels. */
export function fitText(text: string, scale: number, width: number): string {
  if (measureText(text, scale) <= width) return text
  const letters = Array.from(text)
  while (letters.length > 1 && measureText(`${letters.join("")}...`, scale) > width) letters.pop()
  return `${letters.join("").trimEnd()}...`
}

/** Creates a generator (mulberry32) of numbers between 0 and 1. The same seed gives the same sequence. */
export function createSeededRandom(seed: string): () => number {
  let state = hashText(seed)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    const more = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((more ^ (more >>> 14)) >>> 0) / 2 ** 32
  }
}
