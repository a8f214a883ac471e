/**
 * tool/image-ai.ts: a picture by Workers AI, where it is bound as `AI`.
 *
 * prompt → IMAGE AI → bytes
 */

import { MAX_IMAGE_BYTES } from "../../shared/limits.ts"

export interface ImageEnv {
  /** Workers AI; without it pictures are painted by our own. */
  readonly AI?: { run(model: string, input: { readonly prompt: string }): Promise<unknown> }
  /** The text-to-image model. */
  readonly IMAGE_MODEL?: string
}

const IMAGE_MODEL = "@cf/black-forest-labs/flux-1-schnell"

/** Models answer with a stream of bytes, or with an object that holds them as base64. */
export async function generateAiImage(
  { IMAGE_MODEL: model = IMAGE_MODEL }: ImageEnv,
  ai: NonNullable<ImageEnv["AI"]>,
  prompt: string,
  signal: AbortSignal,
): Promise<
  { readonly bytes: Uint8Array; readonly mime_type: string; readonly source: string } | { readonly error: string }
> {
  try {
    const output = await ai.run(model, { prompt })
    const bytes = output instanceof ReadableStream ? await readImageStream(output, signal) : decodeImageBytes(output)
    if (bytes === null) return { error: "The image model's answer could not be read." }
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

async function readImageStream(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    signal.throwIfAborted()
    length += chunk.byteLength
    if (length > MAX_IMAGE_BYTES) return null
    chunks.push(chunk)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}
