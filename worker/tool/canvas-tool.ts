/**
 * canvas-tool.ts: saves an HTML document, which the answer can embed.
 *
 * The page shows it in a sandboxed frame. The document can run its own scripts, but has no network and no storage.
 */

import * as v from "valibot"
import { MAX_CANVAS_BYTES } from "../../shared/asset-limits.ts"
import { MAX_EMBED_HEIGHT, MIN_EMBED_HEIGHT } from "../../shared/limits.ts"
import { createEmbedTrailer, createRefusal, type Tool, toolResult, createSaveFailure } from "./tool.ts"

const argsSchema = v.object({
  title: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(120)),
  html: v.pipe(v.string(), v.trim(), v.minLength(1)),
  height: v.optional(v.pipe(v.number(), v.integer(), v.minValue(MIN_EMBED_HEIGHT), v.maxValue(MAX_EMBED_HEIGHT)), 320),
})

/** Creates the tool (SPEC AS11). Errors: `tool_arguments`; a failed save has no specific code. */
export function createCanvasTool(): Tool {
  return {
    name: "canvas_create",
    description: [
      "Saves a small HTML document that is shown inside the response: a widget, a diagram, a calculator.",
      "It must be self-contained: inline scripts and styles, no network, no storage.",
    ].join(" "),
    parameters: {
      type: "object",
      properties: {
        title: { type: "string" },
        html: { type: "string", description: "The complete document." },
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
