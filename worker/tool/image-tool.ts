/**
 * image-tool.ts: makes a picture or a chart as a real PNG, and gives it to the reply.
 *
 * call → IMAGE → chart, picture or Workers AI → save → `<JSON>\n\n<trailer>` or `{error, details}`
 * The built-in sources need no network and draw the same words alike. A chart is always drawn from its figures alone.
 */

import * as v from "valibot"
import { turnFaultToText } from "../../shared/fault.ts"
import type { Json } from "../../shared/protocol/frame.ts"
import { generateAiImage } from "./image-ai.ts"
import { drawChart } from "./render/chart.ts"
import { drawLandscape } from "./render/landscape.ts"
import { encodePng } from "./render/png-encoder.ts"
import { createMediaTrailer, createRefusal, type Tool, toolResult, createSaveFailure } from "./tool.ts"
import type { ImageEnv } from "../platform/image-env.ts"

/** Edges of what is drawn, in pixels: what fits a page, in both directions. */
const [MIN_EDGE, MAX_EDGE] = [120, 1024]
/** More bars than this are no chart that somebody could read. */
const MAX_BARS = 24
const MAX_PROMPT_CHARS = 1_000

const createEdgeSchema = (fallback: number) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(MIN_EDGE), v.maxValue(MAX_EDGE)), fallback)

/** Whatever is counted is less; figures with more digits are not exact any more. */
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

/**
 * Errors  `{error, details, code}` with `tool_arguments`; `{error, details}` where it could not be made or kept.
 * Source  SPEC AS12.
 */
export function createImageTool(env: ImageEnv): Tool {
  return {
    name: "image_generate",
    description:
      'Makes an image. kind "chart" draws bars from the figures in "data", named in Latin letters; kind "picture" paints what "prompt" says.',
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
    // It draws the same again, which is the same file; a model elsewhere is asked once.
    repeatable: env.AI === undefined,
    ephemeral: false,
    async execute(args, ctx) {
      const parsed = v.safeParse(argsSchema, args)
      if (!parsed.success) {
        const path = v.getDotPath(parsed.issues[0]) ?? "prompt"
        return createRefusal("tool_arguments", `"${path}" is missing or invalid.`)
      }
      const request = parsed.output
      if (request.kind === "chart" && request.data.length === 0) {
        return createRefusal("tool_arguments", 'A chart needs figures in "data".')
      }
      const image = await makeImage(request, env, ctx.signal)
      if ("error" in image) return { error: turnFaultToText("tool_failed"), details: image.error }
      const label = `${(request.title ?? request.prompt).slice(0, 100)}.${image.mime_type === "image/png" ? "png" : "jpg"}`
      const saved = await ctx.saveAsset(image.bytes, { label, mime_type: image.mime_type })
      if (!saved.ok) return createSaveFailure(saved.fault)
      const { id, label: name, size } = saved.value
      const data = { kind: request.kind, media: `/media/${id}`, label: name, bytes: size, source: image.source }
      return toolResult(ctx, data, () => createMediaTrailer(saved.value))
    },
  }
}

type ImageResult =
  | { readonly bytes: Uint8Array; readonly mime_type: string; readonly source: string }
  | { readonly error: string }

async function makeImage(request: ImageRequest, env: ImageEnv, signal: AbortSignal): Promise<ImageResult> {
  const { kind, prompt, data, title, width, height } = request
  if (kind === "picture" && env.AI !== undefined) return await generateAiImage(env, env.AI, prompt, signal)
  const raster =
    kind === "chart"
      ? drawChart({ title: title ?? prompt, bars: data, width, height })
      : drawLandscape(prompt, width, height)
  return { bytes: await encodePng(raster), mime_type: "image/png", source: "built-in" }
}
