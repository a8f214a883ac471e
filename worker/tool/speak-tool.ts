/**
 * speak-tool.ts: says something aloud, as a voice note of the reply.
 *
 * call → SPEAK → voice → save → `<JSON>\n\n<trailer>` or `{error, details}`
 */

import * as v from "valibot"
import { assetUrl } from "../../shared/protocol/asset-url.ts"
import { createMediaTrailer, createRefusal, type Tool, toolResult, createSaveFailure } from "./tool.ts"
import { SAMPLE_RATE, synthesizeWav } from "./render/speech-synthesis.ts"

/** A minute of sound, and two megabytes. */
const MAX_SPOKEN_CHARS = 600

const argsSchema = v.object({
  text: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(MAX_SPOKEN_CHARS)),
  voice: v.optional(v.boolean(), true),
})

/**
 * Errors  `{error, details, code}` with `tool_arguments`; `{error, details}` where it could not be kept.
 * Source  SPEC AS13.
 */
export function createSpeakTool(): Tool {
  return {
    name: "speak",
    description:
      "Says a short text aloud, by a simple built-in voice. voice: false makes it an audio file, no voice note.",
    parameters: {
      type: "object",
      properties: { text: { type: "string", maxLength: MAX_SPOKEN_CHARS }, voice: { type: "boolean" } },
      required: ["text"],
      additionalProperties: false,
    },
    repeatable: true,
    ephemeral: false,
    async execute(args, ctx) {
      const parsed = v.safeParse(argsSchema, args)
      if (!parsed.success)
        return createRefusal("tool_arguments", `"text" must have 1 to ${MAX_SPOKEN_CHARS} characters.`)
      const { text, voice } = parsed.output
      const bytes = synthesizeWav(text)
      const label = `${
        text
          .replace(/[^\p{L}\p{N} ]/gu, "")
          .trim()
          .slice(0, 40) || "speech"
      }.wav`
      const saved = await ctx.saveAsset(bytes, { label, mime_type: "audio/wav", ...(voice ? { voice } : {}) })
      if (!saved.ok) return createSaveFailure(saved.fault)
      const seconds = Math.round((bytes.length - 44) / 2 / SAMPLE_RATE)
      const data = { media: assetUrl(saved.value.id), seconds, voice }
      return toolResult(ctx, data, () => createMediaTrailer(saved.value))
    },
  }
}
