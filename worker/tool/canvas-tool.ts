/**
 * canvas-tool.ts: saves an HTML document, which the answer can embed.
 *
 * The page shows the document in a sandboxed frame. The document can run its own scripts, but has no access to the
 * network or to storage.
 */

import { MAX_CANVAS_BYTES } from "../../shared/asset-limits.ts"
import { MAX_EMBED_HEIGHT, MIN_EMBED_HEIGHT } from "../../shared/limits.ts"
import { defineTool } from "./define-tool.ts"
import { createEmbedTrailer, createRefusal, createSaveFailure, toolResult } from "./tool.ts"

/** In CSS pixels. */
const DEFAULT_HEIGHT = 320

/** Creates the tool (SPEC AS11). Errors: `tool_arguments`; a failed save has no specific code. */
export const createCanvasTool = () =>
  defineTool({
    description: [
      "Saves a small HTML document that is shown inside the response: a widget, a diagram, a calculator.",
      "It must be self-contained: inline scripts and styles, no network, no storage.",
    ].join(" "),
    args: {
      type: "object",
      properties: {
        title: { type: "string", minLength: 1, maxLength: 120 },
        html: { type: "string", minLength: 1, description: "The complete document." },
        height: { type: "integer", minimum: MIN_EMBED_HEIGHT, maximum: MAX_EMBED_HEIGHT },
      },
      required: ["title", "html"],
      additionalProperties: false,
    },
    effects: "write",
    repeatable: true,
    async run({ title, html, height = DEFAULT_HEIGHT }, context) {
      const bytes = new TextEncoder().encode(html)
      if (bytes.length > MAX_CANVAS_BYTES)
        return createRefusal("tool_arguments", `"/html" can be up to ${MAX_CANVAS_BYTES} bytes.`)
      const saved = await context.saveAsset(bytes, { kind: "canvas", label: title, mime_type: "text/html" })
      if (!saved.ok) return createSaveFailure(saved.fault)
      const ref = saved.value.id
      return toolResult(context, { ref, title, height }, () => createEmbedTrailer(ref, title, height))
    },
  })
