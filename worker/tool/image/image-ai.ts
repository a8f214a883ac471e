/**
 * image-ai.ts: generates images with Workers AI, if the deployment has the binding `AI`.
 */

import { MAX_IMAGE_BYTES } from "../../../shared/asset-limits.ts"
import type { Env } from "../../env.ts"
import { readBounded } from "../../platform/read-bounded.ts"

export type ImageEnv = Pick<Env, "AI" | "IMAGE_MODEL">

/** The default text-to-image model. */
const IMAGE_MODEL = "@cf/black-forest-labs/flux-1-schnell"

export interface GeneratedImage {
  readonly bytes: Uint8Array
  readonly mime_type: string
  /** The model, or `built-in`. */
  readonly source: string
}

export interface ImageError {
  readonly error: string
}

/** Generates an image. Some models return a stream of bytes, others an object with the bytes as base64. */
export async function generateAiImage(
  { IMAGE_MODEL: model = IMAGE_MODEL }: ImageEnv,
  ai: NonNullable<ImageEnv["AI"]>,
  prompt: string,
  signal: AbortSignal,
): Promise<GeneratedImage | ImageError> {
  try {
    const output = await ai.run(model, { prompt })
    const bytes =
      output instanceof ReadableStream ? await readBounded(output, MAX_IMAGE_BYTES, signal) : decodeImageBytes(output)
    if (bytes === null) return { error: "The image model's response could not be read." }
    const mime_type = bytes[0] === 0x89 ? "image/png" : "image/jpeg"
    return { bytes, mime_type, source: model }
  } catch {
    return { error: "The image model failed." }
  }
}

function decodeImageBytes(output: unknown): Uint8Array | null {
  const image = typeof output === "object" && output !== null && "image" in output ? output.image : null
  if (typeof image !== "string" || image.length > MAX_IMAGE_BYTES * 1.4) return null
  return Uint8Array.from(atob(image), (char) => char.charCodeAt(0))
}
