/**
 * exclusive-playback.ts: lets only one audio or video element play at a time, and stops it on Escape. SPEC PG58.
 */

let playingElement: HTMLMediaElement | null = null

/** Records the element that started to play, and pauses the previous one. */
export function trackPlay(element: HTMLMediaElement): void {
  if (playingElement !== element) playingElement?.pause()
  playingElement = element
}

export function trackPause(element: HTMLMediaElement): void {
  if (playingElement === element) playingElement = null
}

/** Stops the playing element. Returns false if nothing was playing. */
export function stopPlayback(): boolean {
  if (playingElement === null) return false
  playingElement.pause()
  playingElement = null
  return true
}
