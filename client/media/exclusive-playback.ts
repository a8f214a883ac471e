/**
 * exclusive-playback.ts: one thing plays at a time, and Escape stops it. Source: SPEC PG39.
 */

let playing: HTMLMediaElement | null = null

/** It begins: what played before makes room. */
export function notePlay(element: HTMLMediaElement): void {
  if (playing !== element) playing?.pause()
  playing = element
}

export function notePause(element: HTMLMediaElement): void {
  if (playing === element) playing = null
}

/** False where nothing plays. */
export function stopSound(): boolean {
  if (playing === null) return false
  playing.pause()
  playing = null
  return true
}
