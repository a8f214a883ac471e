/**
 * tool/image.ts: makes a picture or a chart as a real PNG, and gives it to the reply.
 *
 * call → IMAGE → chart, picture or Workers AI → save → `<JSON>\n\n<trailer>` or `{error, details}`
 * The built-in sources need no network and draw the same words alike. A chart is always drawn from its figures alone.
 */

import * as v from "valibot"
import { turnFaultText } from "../../shared/fault.ts"
import type { Json } from "../../shared/frame.ts"
import { type ImageEnv, imageFromAi } from "./image-ai.ts"
import { drawChart } from "./chart.ts"
import { drawPicture } from "./picture.ts"
import { encodePng } from "./png.ts"
import { mediaTrailer, refusal, type Tool, told, unsaved } from "./tool.ts"

/** Edges of what is drawn, in pixels: what fits a page, in both directions. */
const [MIN_EDGE, MAX_EDGE] = [120, 1024]
/** More bars than this are no chart that somebody could read. */
const MAX_BARS = 24
const MAX_PROMPT_CHARS = 1_000

const edge = (otherwise: number) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(MIN_EDGE), v.maxValue(MAX_EDGE)), otherwise)

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
  ...{ width: edge(768), height: edge(480) },
})

type Wanted = v.InferOutput<typeof argsSchema>

const INTEGER: Json = { type: "integer", minimum: MIN_EDGE, maximum: MAX_EDGE }
const BAR: Json = {
  type: "object",
  properties: { label: { type: "string" }, value: { type: "number" } },
  required: ["label", "value"],
  additionalProperties: false,
}

/**
 * Errors  `{error, details, code}` with `tool_arguments`; `{error, details}` where it could not be made or kept.
 * Source  SPEC AS12.
 */
export function imageTool(env: ImageEnv): Tool {
  return {
    name: "image_generate",
    description:
      'Makes an image. kind "chart" draws bars from the figures in "data", named in Latin letters; kind "picture" paints what "prompt" says.',
    parameters: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "What the image shows, in a few words." },
        kind: { type: "string", enum: ["picture", "chart"] },
        data: { type: "array", items: BAR, maxItems: MAX_BARS },
        title: { type: "string" },
        width: INTEGER,
        height: INTEGER,
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
        return refusal("tool_arguments", `"${path}" is missing or invalid.`)
      }
      const wanted = parsed.output
      if (wanted.kind === "chart" && wanted.data.length === 0) {
        return refusal("tool_arguments", 'A chart needs figures in "data".')
      }
      const made = await make(wanted, env, ctx.signal)
      if ("error" in made) return { error: turnFaultText("tool_failed"), details: made.error }
      const label = `${(wanted.title ?? wanted.prompt).slice(0, 100)}.${made.mime_type === "image/png" ? "png" : "jpg"}`
      const saved = await ctx.save(made.bytes, { label, mime_type: made.mime_type })
      if (!saved.ok) return unsaved(saved.fault)
      const { id, label: name, size } = saved.value
      const data = { kind: wanted.kind, media: `/media/${id}`, label: name, bytes: size, source: made.source }
      return told(ctx, data, () => mediaTrailer(saved.value))
    },
  }
}

type Made =
  | { readonly bytes: Uint8Array; readonly mime_type: string; readonly source: string }
  | { readonly error: string }

async function make(wanted: Wanted, env: ImageEnv, signal: AbortSignal): Promise<Made> {
  const { kind, prompt, data, title, width, height } = wanted
  if (kind === "picture" && env.AI !== undefined) return await imageFromAi(env, env.AI, prompt, signal)
  const raster =
    kind === "chart"
      ? drawChart({ title: title ?? prompt, bars: data, width, height })
      : drawPicture(prompt, width, height)
  return { bytes: await encodePng(raster), mime_type: "image/png", source: "built-in" }
}
