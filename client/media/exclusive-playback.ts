/**
 * exclusive-playback.ts: one thing plays at a time, and Escape stops it. Source: SPEC PG58.
 */

let playingElement: HTMLMediaElement | null = null

/** It begins: what played before makes room. */
export function trackPlay(element: HTMLMediaElement): void {
  if (playingElement !== element) playingElement?.pause()
  playingElement = element
}

export function trackPause(element: HTMLMediaElement): void {
  if (playingElement === element) playingElement = null
}

/** False where nothing plays. */
export function stopPlayback(): boolean {
  if (playingElement === null) return false
  playingElement.pause()
  playingElement = null
  return true
}
