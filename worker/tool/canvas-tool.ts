/**
 * canvas-tool.ts: keeps an HTML document, which the reply may embed where it stands.
 *
 * call → CANVAS → save → `<JSON>\n\n<trailer>` or `{error, details}`
 * It is framed from a sandbox that reaches nothing: it may run scripts of its own, and that is all.
 */

import * as v from "valibot"
import { MAX_CANVAS_BYTES, MAX_EMBED_HEIGHT, MIN_EMBED_HEIGHT } from "../../shared/limits.ts"
import { createEmbedTrailer, createRefusal, type Tool, toolResult, createSaveFailure } from "./tool.ts"

const argsSchema = v.object({
  title: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(120)),
  html: v.pipe(v.string(), v.trim(), v.minLength(1)),
  height: v.optional(v.pipe(v.number(), v.integer(), v.minValue(MIN_EMBED_HEIGHT), v.maxValue(MAX_EMBED_HEIGHT)), 320),
})

/**
 * Errors  `{error, details, code}` with `tool_arguments`; `{error, details}` where it could not be kept.
 * Source  SPEC AS11.
 */
export function createCanvasTool(): Tool {
  return {
    name: "canvas_create",
    description: [
      "Keeps a small HTML document, to be shown inside the reply: a widget, a diagram, a form that computes.",
      "It stands alone: scripts and styles inline, no network, no storage.",
    ].join(" "),
    parameters: {
      type: "object",
      properties: {
        title: { type: "string" },
        html: { type: "string", description: "The whole document." },
        height: { type: "integer", minimum: MIN_EMBED_HEIGHT, maximum: MAX_EMBED_HEIGHT },
      },
      required: ["title", "html"],
      additionalProperties: false,
    },
    repeatable: true,
    ephemeral: false,
    async execute(args, ctx) {
      const parsed = v.safeParse(argsSchema, args)
      if (!parsed.success) {
        const path = v.getDotPath(parsed.issues[0]) ?? "html"
        return createRefusal("tool_arguments", `"${path}" is missing or invalid.`)
      }
      const { title, html, height } = parsed.output
      const bytes = new TextEncoder().encode(html)
      if (bytes.length > MAX_CANVAS_BYTES)
        return createRefusal("tool_arguments", `"html" can be up to ${MAX_CANVAS_BYTES} bytes.`)
      const saved = await ctx.saveAsset(bytes, { kind: "canvas", label: title, mime_type: "text/html" })
      if (!saved.ok) return createSaveFailure(saved.fault)
      const ref = saved.value.id
      return toolResult(ctx, { ref, title, height }, () => createEmbedTrailer(ref, title, height))
    },
  }
}
