/**
 * use-playback-resume.ts: where a sound or a film goes on when it gets another address in the middle. Source: SPEC PG39.
 */

import { useRef } from "preact/hooks"

export interface Place {
  /** It failed: this is where it was. */
  keep(element: HTMLMediaElement): void
  /** It knows its length again: back to where it was. */
  resume(element: HTMLMediaElement): void
}

export function usePlace(): Place {
  const lost = useRef<{ readonly at: number; readonly wasPlaying: boolean } | null>(null)
  return {
    keep(element) {
      // One that fails again before it began anew has nothing newer to say.
      lost.current ??= { at: element.currentTime, wasPlaying: !element.paused }
    },
    resume(element) {
      const { current } = lost
      lost.current = null
      if (current === null) return
      element.currentTime = current.at
      if (current.wasPlaying) element.play().catch(() => {})
    },
  }
}
