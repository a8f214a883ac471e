/**
 * chart.ts: draws a bar chart with an axis, labels and values. Pure.
 */

import { type Color, createRaster, drawText, fillRect, fitText, type Raster, measureText } from "./raster.ts"

export interface Bar {
  readonly label: string
  readonly value: number
}

export interface Chart {
  readonly title: string
  readonly bars: readonly Bar[]
  readonly width: number
  readonly height: number
}

const BACKGROUND: Color = [252, 252, 250]
const INK: Color = [38, 44, 58]
const MUTED: Color = [108, 116, 132]
const GRID: Color = [226, 228, 232]
const BAR_COLORS: readonly Color[] = [
  [54, 112, 186],
  [226, 122, 63],
  [66, 152, 118],
  [150, 98, 172],
  [208, 168, 54],
  [92, 140, 168],
]

/** Desired number of grid lines. */
const TICKS = 5
/** The axis has at least this span. A smaller span could not be divided into ticks. */
const MIN_SPAN = 1e-9

/** The area in which the bars are drawn, in pixels, and the mapping of values to it. */
interface Plot {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
  /** Size of text, in pixels per unit of the font grid. */
  readonly scale: number
  readonly axis: Axis
}

interface Axis {
  readonly low: number
  readonly high: number
  readonly ticks: readonly number[]
}

export function drawChart({ title, bars, width, height }: Chart): Raster {
  const raster = createRaster(width, height)
  fillRect(raster, 0, 0, width, height, BACKGROUND)
  const scale = width >= 560 ? 2 : 1
  const values = bars.map(({ value }) => value)
  const axis = computeAxis(Math.min(0, ...values), Math.max(0, ...values))
  const left = 18 * scale + Math.max(...axis.ticks.map((tick) => measureText(formatNumber(tick), scale)))
  const plot = { left, top: 44 * scale, right: width - 12 * scale, bottom: height - 26 * scale, scale, axis }
  drawText(raster, 12 * scale, 12 * scale, fitText(title, scale + 1, width - 24 * scale), scale + 1, INK)
  drawAxis(raster, plot)
  drawBars(raster, plot, bars)
  return raster
}

function valueToY({ top, bottom, axis: { low, high } }: Plot, value: number): number {
  return bottom - ((value - low) / (high - low)) * (bottom - top)
}

function drawAxis(raster: Raster, plot: Plot): void {
  const { left, right, scale, axis } = plot
  for (const tick of axis.ticks) {
    const y = valueToY(plot, tick)
    fillRect(raster, left, y, right - left, 1, tick === 0 ? MUTED : GRID)
    const text = formatNumber(tick)
    drawText(raster, left - measureText(text, scale) - 6 * scale, y - 3 * scale, text, scale, MUTED)
  }
}

function drawBars(raster: Raster, plot: Plot, bars: readonly Bar[]): void {
  const { left, right, bottom, scale } = plot
  const step = (right - left) / bars.length
  const barWidth = Math.max(1, step * 0.62)
  bars.forEach(({ label, value }, i) => {
    const middle = left + step * (i + 0.5)
    const [valueY, zeroY] = [valueToY(plot, value), valueToY(plot, 0)]
    const [top, foot] = [Math.min(valueY, zeroY), Math.max(valueY, zeroY)]
    const color = BAR_COLORS[i % BAR_COLORS.length] ?? INK
    fillRect(raster, middle - barWidth / 2, top, barWidth, Math.max(1, foot - top), color)
    drawCentered(raster, middle, bottom + 8 * scale, fitText(label, scale, step - 4), scale)
    const figureY = value < 0 ? foot + 3 * scale : top - 10 * scale
    drawCentered(raster, middle, figureY, fitText(formatNumber(value), scale, step - 2), scale)
  })
}

function drawCentered(raster: Raster, middle: number, y: number, text: string, scale: number): void {
  drawText(raster, middle - measureText(text, scale) / 2, y, text, scale, INK)
}

/** Returns an axis that covers the values, with steps of 1, 2 or 5 times a power of ten. */
function computeAxis(low: number, high: number): Axis {
  const span = Math.max(high - low, MIN_SPAN)
  const power = 10 ** Math.floor(Math.log10(span / TICKS))
  const step = power * ([1, 2, 5, 10].find((factor) => span / (factor * power) <= TICKS) ?? 10)
  // Leave room for the value below a negative bar.
  const first = low < 0 ? Math.floor(low / step) - 1 : 0
  const last = Math.max(Math.ceil(high / step), first + 1)
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step)
  return { low: first * step, high: last * step, ticks }
}

/** Formats a number for a label. Large numbers are rounded and get a unit. */
export function formatNumber(value: number): string {
  const [unit, name] = UNITS.find(([least]) => Math.abs(value) >= least) ?? [1, ""]
  return `${Number((value / unit).toPrecision(name === "" ? 6 : 4))}${name}`
}

const UNITS = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
] as const
