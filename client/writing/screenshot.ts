/** screenshot.ts: captures an image of a screen, window or tab that the user chooses. Source: SPEC WR33. */

export function canTakeScreenshot(): boolean {
  return typeof navigator.mediaDevices?.getDisplayMedia === "function"
}

/** Whether a file field can take a photo with the device's camera, which is possible only on phones and tablets. */
export function canTakePhoto(): boolean {
  return matchMedia("(pointer: coarse)").matches
}

/**
 * Takes a screenshot. Resolves with null if the user chose nothing. Rejects if the browser can't capture the screen.
 */
export async function takeScreenshot(nowMs: number): Promise<File | null> {
  const stream = await navigator.mediaDevices.getDisplayMedia({ video: true }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "NotAllowedError") return null
    throw error
  })
  if (stream === null) return null
  try {
    return await captureFrame(stream, nowMs)
  } finally {
    for (const track of stream.getTracks()) track.stop()
  }
}

async function captureFrame(stream: MediaStream, nowMs: number): Promise<File> {
  const video = document.createElement("video")
  video.srcObject = stream
  video.muted = true
  await video.play()
  const canvas = document.createElement("canvas")
  canvas.width = video.videoWidth
  canvas.height = video.videoHeight
  canvas.getContext("2d")?.drawImage(video, 0, 0)
  video.srcObject = null
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"))
  if (blob === null) throw new Error("no image")
  const time = new Date(nowMs).toISOString().slice(0, 19).replace(/:/g, ".").replace("T", " ")
  return new File([blob], `Screenshot ${time}.png`, { type: "image/png" })
}
