/** image-box.ts: the shape of an image's box. */

/**
 * Minimum ratio of width to height. Taller images are cropped at the bottom, because a full-page screenshot would fill
 * the whole transcript.
 */
const MIN_ASPECT_RATIO = 0.5

/** Returns the style that gives an image's box its shape. */
export function createBoxStyle(
  width: number | undefined,
  height: number | undefined,
): Readonly<Record<string, string>> | undefined {
  if (width === undefined || height === undefined) return undefined
  return { "--width": `${width}px`, "--ratio": Math.max(MIN_ASPECT_RATIO, width / height).toFixed(4) }
}
