/**
 * image-tool.ts: generates an image or draws a bar chart, and attaches it to the answer.
 *
 * Charts are always drawn from the given figures. Images come from Workers AI if it is bound, otherwise from the built-in
 * renderer, which needs no network and always draws the same image for the same prompt.
 */

import * as v from "valibot"
import { turnFaultToText } from "../../shared/fault.ts"
import type { Json } from "../../shared/json.ts"
import { MAX_LABEL_CHARS } from "../../shared/limits.ts"
import { assetUrl } from "../../shared/protocol/asset-url.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import { type GeneratedImage, generateAiImage, type ImageEnv, type ImageError } from "./image-ai.ts"
import {
  createMediaTrailer,
  createRefusal,
  createSaveFailure,
  type Tool,
  type ToolArgs,
  type ToolContext,
  type ToolReturn,
  toolResult,
} from "./tool.ts"

/** Limits of width and height, in pixels. */
const [MIN_EDGE, MAX_EDGE] = [120, 1024]
/** A chart with more bars would be illegible. */
const MAX_BARS = 24
const MAX_PROMPT_CHARS = 1_000

const createEdgeSchema = (fallback: number) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(MIN_EDGE), v.maxValue(MAX_EDGE)), fallback)

/** Larger numbers lose digits as floating-point values. */
const MAX_FIGURE = 1e15

const barSchema = v.object({
  label: v.pipe(v.string(), v.maxLength(60)),
  value: v.pipe(v.number(), v.minValue(-MAX_FIGURE), v.maxValue(MAX_FIGURE)),
})

const argsSchema = v.object({
  prompt: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(MAX_PROMPT_CHARS)),
  kind: v.optional(v.picklist(["picture", "chart"]), "picture"),
  data: v.optional(v.pipe(v.array(barSchema), v.maxLength(MAX_BARS)), []),
  title: v.optional(v.pipe(v.string(), v.maxLength(120))),
  width: createEdgeSchema(768),
  height: createEdgeSchema(480),
})

type ImageRequest = v.InferOutput<typeof argsSchema>

const EDGE_PARAMETER: Json = { type: "integer", minimum: MIN_EDGE, maximum: MAX_EDGE }
const BAR_PARAMETER: Json = {
  type: "object",
  properties: { label: { type: "string" }, value: { type: "number" } },
  required: ["label", "value"],
  additionalProperties: false,
}

/** Creates the tool (SPEC AS12). Errors: `tool_arguments`; a failure to make or save the image has no specific code. */
export function createImageTool(env: ImageEnv): Tool {
  return {
    name: "image_generate",
    description:
      'Generates an image. kind "chart" draws a bar chart of the figures in "data", with labels in Latin letters; kind "picture" draws what "prompt" describes.',
    parameters: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "What the image shows, in a few words." },
        kind: { type: "string", enum: ["picture", "chart"] },
        data: { type: "array", items: BAR_PARAMETER, maxItems: MAX_BARS },
        title: { type: "string" },
        width: EDGE_PARAMETER,
        height: EDGE_PARAMETER,
      },
      required: ["prompt"],
      additionalProperties: false,
    },
    // The built-in renderer draws the same file again. A second call to Workers AI would be billed again.
    repeatable: env.AI === undefined,
    ephemeral: false,
    execute: async (args, ctx) => await runImageTool(args, env, ctx),
  }
}

async function runImageTool(args: ToolArgs, env: ImageEnv, ctx: ToolContext): Promise<ToolReturn> {
  const parsed = v.safeParse(argsSchema, args)
  if (!parsed.success) {
    const path = v.getDotPath(parsed.issues[0]) ?? "prompt"
    return createRefusal("tool_arguments", `"${path}" is missing or invalid.`)
  }
  const request = parsed.output
  if (request.kind === "chart" && request.data.length === 0) {
    return createRefusal("tool_arguments", 'A chart needs figures in "data".')
  }
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

/** The label of an image is also its alternative text (SPEC AX6), so the label of a chart contains the figures. */
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
  const { drawChartPng, drawLandscapePng } = await import("./render/draw-image.ts")
  const bytes =
    kind === "chart"
      ? await drawChartPng({ title: title ?? prompt, bars: data, width, height })
      : await drawLandscapePng(prompt, width, height)
  return { bytes, mime_type: "image/png", source: "built-in" }
}
