/**
 * use-playback-resume.ts: where a sound or a film goes on when it gets another address in the middle. Source: SPEC PG59.
 */

import { useRef } from "preact/hooks"

export interface PlaybackResume {
  /** It failed: this is where it was. */
  savePosition(element: HTMLMediaElement): void
  /** It knows its length again: back to where it was. */
  restorePosition(element: HTMLMediaElement): void
}

export function usePlaybackResume(): PlaybackResume {
  const saved = useRef<{ readonly at: number; readonly wasPlaying: boolean } | null>(null)
  return {
    savePosition(element) {
      // One that fails again before it began anew has nothing newer to say.
      saved.current ??= { at: element.currentTime, wasPlaying: !element.paused }
    },
    restorePosition(element) {
      const { current } = saved
      saved.current = null
      if (current === null) return
      element.currentTime = current.at
      if (current.wasPlaying) element.play().catch(() => {})
    },
  }
}
