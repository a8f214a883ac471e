/**
 * draw-image.ts: draws a chart or a landscape as a PNG file. The Worker loads this code when it first draws an image.
 */

import { type Chart, drawChart } from "./chart.ts"
import { drawLandscape } from "./landscape.ts"
import { encodePng } from "./png-encoder.ts"

export async function drawChartPng(chart: Chart): Promise<Uint8Array> {
  return await encodePng(drawChart(chart))
}

/** Draws a landscape as a PNG file. `width` and `height` are in pixels. */
export async function drawLandscapePng(prompt: string, width: number, height: number): Promise<Uint8Array> {
  return await encodePng(drawLandscape(prompt, width, height))
}
