/**
 * use-playback-resume.ts: resumes audio and video at the same position after their URL has been renewed. SPEC PG59.
 */

import { useRef } from "preact/hooks"

export interface PlaybackResume {
  /** To be called when the element fails. */
  savePosition(element: HTMLMediaElement): void
  /** To be called when the element has loaded its metadata. */
  restorePosition(element: HTMLMediaElement): void
}

export function usePlaybackResume(): PlaybackResume {
  const saved = useRef<{ readonly at: number; readonly wasPlaying: boolean } | null>(null)
  return {
    savePosition(element) {
      // An element that fails again before its position has been restored is at 0, so the first saved position is kept.
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
