/**
 * image-tool.ts: generates an image or draws a bar chart, and attaches it to the answer.
 *
 * Charts are always drawn from the given numbers. Images come from Workers AI if it is bound, otherwise from the
 * built-in renderer, which needs no network and always draws the same image for the same prompt.
 */

import { defineTool } from "../define-tool.ts"
import type { ImageEnv } from "./image-ai.ts"

/** Limits of width and height, in pixels. */
const EDGE = { type: "integer", minimum: 120, maximum: 1024 } as const
/** A chart with more bars would be illegible. */
const MAX_BARS = 24
const MAX_PROMPT_CHARS = 1_000
/** Larger numbers lose digits as floating-point values. */
const MAX_FIGURE = 1e15

const BAR = {
  type: "object",
  properties: {
    label: { type: "string", maxLength: 60 },
    value: { type: "number", minimum: -MAX_FIGURE, maximum: MAX_FIGURE },
  },
  required: ["label", "value"],
  additionalProperties: false,
} as const

/** Creates the tool (SPEC AS12). Errors: `tool_arguments`; a failure to make or save the image has no specific code. */
export const createImageTool = (env: ImageEnv) =>
  defineTool({
    description:
      'Generates an image. kind "chart" draws a bar chart of the figures in "data", with labels in Latin letters; kind "picture" draws what "prompt" describes.',
    args: {
      type: "object",
      properties: {
        prompt: {
          type: "string",
          minLength: 1,
          maxLength: MAX_PROMPT_CHARS,
          description: "What the image shows, in a few words.",
        },
        kind: { type: "string", enum: ["picture", "chart"] },
        data: { type: "array", items: BAR, maxItems: MAX_BARS },
        title: { type: "string", maxLength: 120 },
        width: EDGE,
        height: EDGE,
      },
      required: ["prompt"],
      additionalProperties: false,
    },
    effects: "write",
    // The built-in renderer draws the same file again. A second call to Workers AI would be billed again.
    repeatable: env.AI === undefined,
    async run({ prompt, kind = "picture", data = [], title, width = 768, height = 480 }, context) {
      const { saveImage } = await import("./save-image.ts")
      return await saveImage({ prompt, kind, data, title, width, height }, env, context)
    },
  })
