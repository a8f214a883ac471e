/**
 * chart.ts: figures become bars, with an axis, names and values.
 *
 * image_generate → CHART → raster
 * Pure. The same figures, the same pixels.
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
  ...([
    [54, 112, 186],
    [226, 122, 63],
    [66, 152, 118],
  ] as const),
  ...([
    [150, 98, 172],
    [208, 168, 54],
    [92, 140, 168],
  ] as const),
]

/** Lines of the axis that are aimed at. */
const TICKS = 5
/** Smaller differences are drawn as none: there are no numbers between them that an axis could have. */
const MIN_SPAN = 1e-9

export function drawChart({ title, bars, width, height }: Chart): Raster {
  const raster = createRaster(width, height)
  fillRect(raster, 0, 0, width, height, BACKGROUND)
  const scale = width >= 560 ? 2 : 1
  const values = bars.map(({ value }) => value)
  const axis = computeAxis(Math.min(0, ...values), Math.max(0, ...values))
  const left = 18 * scale + Math.max(...axis.ticks.map((tick) => measureText(formatNumber(tick), scale)))
  const area = { left, top: 44 * scale, right: width - 12 * scale, bottom: height - 26 * scale }
  drawText(raster, 12 * scale, 12 * scale, fitText(title, scale + 1, width - 24 * scale), scale + 1, INK)
  const valueToY = (value: number): number =>
    area.bottom - ((value - axis.low) / (axis.high - axis.low)) * (area.bottom - area.top)
  for (const tick of axis.ticks) {
    const y = valueToY(tick)
    fillRect(raster, area.left, y, area.right - area.left, 1, tick === 0 ? MUTED : GRID)
    const text = formatNumber(tick)
    drawText(raster, area.left - measureText(text, scale) - 6 * scale, y - 3 * scale, text, scale, MUTED)
  }
  drawBars(raster, bars, area, valueToY, scale)
  return raster
}

interface Area {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

function drawBars(
  raster: Raster,
  bars: readonly Bar[],
  { left, right, bottom }: Area,
  valueToY: (value: number) => number,
  scale: number,
): void {
  const step = (right - left) / bars.length
  const barWidth = Math.max(1, step * 0.62)
  bars.forEach(({ label, value }, i) => {
    const middle = left + step * (i + 0.5)
    const [top, foot] = [Math.min(valueToY(value), valueToY(0)), Math.max(valueToY(value), valueToY(0))]
    fillRect(
      raster,
      middle - barWidth / 2,
      top,
      barWidth,
      Math.max(1, foot - top),
      BAR_COLORS[i % BAR_COLORS.length] ?? INK,
    )
    const [name, figure] = [fitText(label, scale, step - 4), fitText(formatNumber(value), scale, step - 2)]
    drawText(raster, middle - measureText(name, scale) / 2, bottom + 8 * scale, name, scale, INK)
    const y = value < 0 ? foot + 3 * scale : top - 10 * scale
    drawText(raster, middle - measureText(figure, scale) / 2, y, figure, scale, INK)
  })
}

/** Round figures around what is to be shown: steps of 1, 2 or 5 times a power of ten. */
function computeAxis(low: number, high: number) {
  const span = Math.max(high - low, MIN_SPAN)
  const power = 10 ** Math.floor(Math.log10(span / TICKS))
  const step = power * ([1, 2, 5, 10].find((one) => span / (one * power) <= TICKS) ?? 10)
  // Below what is negative there is room for its figure.
  const first = low < 0 ? Math.floor(low / step) - 1 : 0
  const last = Math.max(Math.ceil(high / step), first + 1)
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step)
  return { low: first * step, high: last * step, ticks }
}

/** A figure as it is; a long one is rounded so that one sees it. */
export function formatNumber(value: number): string {
  const [unit, name] = UNITS.find(([least]) => Math.abs(value) >= least) ?? [1, ""]
  return `${Number((value / unit).toPrecision(name === "" ? 6 : 4))}${name}`
}

const UNITS = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
] as const
