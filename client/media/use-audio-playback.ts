/**
 * use-audio-playback.ts: the state of one audio element, and the functions that control it.
 */

import type { RefObject } from "preact"
import { useEffect, useState } from "preact/hooks"
import { trackPause, trackPlay } from "./exclusive-playback.ts"
import type { MediaSourceHandle } from "./use-media-source.ts"
import { usePlaybackResume } from "./use-playback-resume.ts"

export interface AudioPlayback {
  readonly isPlaying: boolean
  /** The current position, in seconds. */
  readonly time: number
  /** The total length, in seconds; 0 while unknown. */
  readonly length: number
  toggle(): void
  /** Moves to a position in seconds. */
  seek(to: number): void
  /** To be spread onto the audio element. */
  readonly listeners: AudioListeners
}

interface AudioListeners {
  onPlay(event: Event): void
  onPause(event: Event): void
  onEnded(): void
  onTimeUpdate(): void
  onDurationChange(): void
  onLoadedMetadata(): void
  onError(): void
}

export function useAudioPlayback(
  audioRef: RefObject<HTMLAudioElement | null>,
  source: MediaSourceHandle,
): AudioPlayback {
  const [isPlaying, setPlaying] = useState(false)
  const [time, setTime] = useState(0)
  const [length, setLength] = useState(0)
  const resume = useResumeListeners(audioRef, source, setPlaying)
  useEffect(() => {
    const { current } = audioRef
    // Otherwise the removed audio element would continue to play.
    return () => current?.pause()
  }, [])
  const listeners: AudioListeners = {
    onPlay(event) {
      if (event.currentTarget instanceof HTMLMediaElement) trackPlay(event.currentTarget)
      setPlaying(true)
    },
    onPause(event) {
      if (event.currentTarget instanceof HTMLMediaElement) trackPause(event.currentTarget)
      setPlaying(false)
    },
    onEnded: () => setTime(0),
    onTimeUpdate: () => setTime(audioRef.current?.currentTime ?? 0),
    onDurationChange: () => setLength(getKnownLength(audioRef.current)),
    ...resume,
  }
  const seekTo = (to: number): void => {
    if (audioRef.current !== null) audioRef.current.currentTime = to
    setTime(to)
  }
  return { isPlaying, time, length, toggle: () => togglePlayback(audioRef.current), seek: seekTo, listeners }
}

function useResumeListeners(
  audioRef: RefObject<HTMLAudioElement | null>,
  source: MediaSourceHandle,
  setPlaying: (isPlaying: boolean) => void,
): Pick<AudioListeners, "onLoadedMetadata" | "onError"> {
  const resume = usePlaybackResume()
  return {
    onLoadedMetadata() {
      source.onLoad()
      if (audioRef.current !== null) resume.restorePosition(audioRef.current)
    },
    onError() {
      if (audioRef.current !== null) resume.savePosition(audioRef.current)
      setPlaying(false)
      source.onError()
    },
  }
}

function togglePlayback(audio: HTMLAudioElement | null): void {
  if (audio === null) return
  if (audio.paused) audio.play().catch(() => {})
  else audio.pause()
}

function getKnownLength(audio: HTMLAudioElement | null): number {
  return audio !== null && Number.isFinite(audio.duration) ? audio.duration : 0
}
