/**
 * speak-tool.ts: speaks a short text and attaches it to the answer as a voice note or an audio file.
 */

import * as v from "valibot"
import { assetUrl } from "../../shared/protocol/asset-url.ts"
import { encodeWav } from "./render/wav-encoder.ts"
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

/** About a minute of sound, which is about 2 MB. */
const MAX_SPOKEN_CHARS = 600

const argsSchema = v.object({
  text: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(MAX_SPOKEN_CHARS)),
  voice: v.optional(v.boolean(), true),
})

/** Creates the tool (SPEC AS13). Errors: `tool_arguments`; a failed save has no specific code. */
export function createSpeakTool(): Tool {
  return {
    name: "speak",
    description:
      "Speaks a short text with a simple built-in voice. With voice: false the result is an audio file instead of a voice note.",
    parameters: {
      type: "object",
      properties: { text: { type: "string", maxLength: MAX_SPOKEN_CHARS }, voice: { type: "boolean" } },
      required: ["text"],
      additionalProperties: false,
    },
    repeatable: true,
    ephemeral: false,
    execute: runSpeakTool,
  }
}

async function runSpeakTool(args: ToolArgs, ctx: ToolContext): Promise<ToolReturn> {
  const parsed = v.safeParse(argsSchema, args)
  if (!parsed.success) return createRefusal("tool_arguments", `"text" must have 1 to ${MAX_SPOKEN_CHARS} characters.`)
  const { text, voice } = parsed.output
  const { SAMPLE_RATE, synthesizeSpeech } = await import("./render/speech-synthesis.ts")
  const samples = synthesizeSpeech(text)
  const bytes = encodeWav(samples, SAMPLE_RATE)
  const saved = await ctx.saveAsset(bytes, {
    label: `${textToLabel(text)}.wav`,
    mime_type: "audio/wav",
    ...(voice ? { voice } : {}),
  })
  if (!saved.ok) return createSaveFailure(saved.fault)
  const data = { media: assetUrl(saved.value.id), seconds: Math.round(samples.length / SAMPLE_RATE), voice }
  return toolResult(ctx, data, () => createMediaTrailer(saved.value))
}

function textToLabel(text: string): string {
  const letters = text.replace(/[^\p{L}\p{N} ]/gu, "")
  return letters.trim().slice(0, 40) || "speech"
}
