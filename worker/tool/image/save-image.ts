/** save-image.ts: generates or draws an image, and saves it. Loaded on the first image. */

import { turnFaultToText } from "../../../shared/fault.ts"
import { MAX_LABEL_CHARS } from "../../../shared/limits.ts"
import { assetUrl } from "../../../shared/protocol/asset-url.ts"
import { cutText } from "../../../shared/text/cut-text.ts"
import {
  createMediaTrailer,
  createRefusal,
  createSaveFailure,
  type ToolContext,
  type ToolReturn,
  toolResult,
} from "../tool.ts"
import { type GeneratedImage, generateAiImage, type ImageEnv, type ImageError } from "./image-ai.ts"

interface ImageRequest {
  readonly prompt: string
  readonly kind: "picture" | "chart"
  readonly data: readonly { readonly label: string; readonly value: number }[]
  readonly title: string | undefined
  /** In pixels. */
  readonly width: number
  readonly height: number
}

/** Generates the requested image, and attaches it to the answer. */
export async function saveImage(request: ImageRequest, env: ImageEnv, ctx: ToolContext): Promise<ToolReturn> {
  if (request.kind === "chart" && request.data.length === 0)
    return createRefusal("tool_arguments", '"/data" is missing. A chart needs figures.')
  const image = await generateImage(request, env, ctx.signal)
  if ("error" in image) return { error: turnFaultToText("tool_failed"), details: image.error }
  const extension = image.mime_type === "image/png" ? "png" : "jpg"
  const label = `${cutText(describeImage(request), MAX_LABEL_CHARS - extension.length - 1)}.${extension}`
  const saved = await ctx.saveAsset(image.bytes, { label, mime_type: image.mime_type })
  if (!saved.ok) return createSaveFailure(saved.fault)
  const asset = saved.value
  const { kind } = request
  const data = { kind, media: assetUrl(asset.id), label: asset.label, bytes: asset.size, source: image.source }
  return toolResult(ctx, data, () => createMediaTrailer(asset))
}

/**
 * Creates the label of an image. The label is also the alternative text (SPEC AX6), so the label of a chart contains
 * its numbers.
 */
function describeImage({ kind, prompt, title, data }: ImageRequest): string {
  if (kind !== "chart") return title ?? prompt
  const figures = data.map(({ label, value }) => `${label} ${value}`).join(", ")
  return `${title ?? prompt} (${figures})`
}

async function generateImage(
  { kind, prompt, data, title, width, height }: ImageRequest,
  env: ImageEnv,
  signal: AbortSignal,
): Promise<GeneratedImage | ImageError> {
  if (kind === "picture" && env.AI !== undefined) return await generateAiImage(env, env.AI, prompt, signal)
  const { drawChartPng, drawLandscapePng } = await import("../render/draw-image.ts")
  const bytes =
    kind === "chart"
      ? await drawChartPng({ title: title ?? prompt, bars: data, width, height })
      : await drawLandscapePng(prompt, width, height)
  return { bytes, mime_type: "image/png", source: "built-in" }
}
