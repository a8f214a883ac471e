/** speak-tool.ts: speaks a short text and attaches the recording to the answer as a voice note or an audio file. */

import { assetUrl } from "../../shared/protocol/asset-url.ts"
import { defineTool } from "./define-tool.ts"
import { createMediaTrailer, createSaveFailure, toolResult } from "./tool.ts"

/** About a minute of sound, which is about 2 MB. */
const MAX_SPOKEN_CHARS = 600

/** Creates the tool (SPEC AS13). Errors: `tool_arguments`; a failed save has no specific code. */
export const createSpeakTool = () =>
  defineTool({
    description:
      "Speaks a short text with a simple built-in voice. With voice: false the result is an audio file instead of a voice note.",
    args: {
      type: "object",
      properties: {
        text: { type: "string", minLength: 1, maxLength: MAX_SPOKEN_CHARS },
        voice: { type: "boolean" },
      },
      required: ["text"],
      additionalProperties: false,
    },
    effects: "write",
    repeatable: true,
    async run({ text, voice = true }, context) {
      const { synthesizeWav } = await import("./render/speech-synthesis.ts")
      const { bytes, seconds } = synthesizeWav(text)
      const saved = await context.saveAsset(bytes, {
        label: `${textToLabel(text)}.wav`,
        mime_type: "audio/wav",
        ...(voice ? { voice } : {}),
      })
      if (!saved.ok) return createSaveFailure(saved.fault)
      const data = { media: assetUrl(saved.value.id), seconds, voice }
      return toolResult(context, data, () => createMediaTrailer(saved.value))
    },
  })

function textToLabel(text: string): string {
  const letters = text.replace(/[^\p{L}\p{N} ]/gu, "")
  return letters.trim().slice(0, 40) || "speech"
}
