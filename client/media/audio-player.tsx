/**
 * audio-player.tsx: a player for audio, and for voice notes, which have a look of their own.
 *
 * source → audio element → AUDIO
 * A range holds the place, so mouse, finger and keyboard move it alike. One plays at a time; Escape stops it. An address
 * that ran out in the middle is renewed, and it goes on where it was. Source: SPEC PG58, PG59.
 */

import type { RefObject, VNode } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { downloadMedia } from "./file-link.tsx"
import { ConsentGate } from "./consent-gate.tsx"
import { MediaIcon } from "./media-icons.tsx"
import { formatClock, type MediaSegment } from "../words/media-descriptions.ts"
import { usePlaybackResume } from "./use-playback-resume.ts"
import { useInView } from "./use-in-view.ts"
import { trackPause, trackPlay } from "./exclusive-playback.ts"
import { type MediaSourceHandle, useMediaContext, useMediaSource } from "./use-media-source.ts"
import { WAVEFORM_BARS, loadWaveform } from "./waveform.ts"

export function AudioView({ segment }: { readonly segment: MediaSegment }): VNode {
  const { url, label, voice } = segment
  const source = useMediaSource(url)
  const { state } = source
  if (state.at === "closed" || state.at === "failed") {
    const kind = voice === true ? "Voice note" : "Audio"
    return <ConsentGate source={source} url={url} icon={voice === true ? "voice" : "audio"} kind={kind} label={label} />
  }
  return <AudioControls segment={segment} source={source} href={state.at === "ready" ? state.href : null} />
}

interface AudioControlsProps {
  readonly segment: MediaSegment
  readonly source: MediaSourceHandle
  readonly href: string | null
}

function AudioControls({ segment, source, href }: AudioControlsProps): VNode {
  const audioRef = useRef<HTMLAudioElement>(null)
  const { isPlaying, time, length, playback: hear } = useAudioPlayback(audioRef, source)
  const { url, label, size, voice } = segment
  const togglePlayback = (): void => {
    const { current } = audioRef
    if (current === null) return
    if (current.paused) current.play().catch(() => {})
    else current.pause()
  }
  const seek = (to: number): void => {
    if (audioRef.current !== null) audioRef.current.currentTime = to
    hear.seek(to)
  }
  const progress = length > 0 ? Math.min(1, time / length) : 0
  return (
    <fieldset
      class="sound"
      data-voice={voice === true ? "" : undefined}
      aria-label={`${voice === true ? "Voice note" : "Audio"}: ${label}`}
    >
      <button type="button" class="play" aria-label={isPlaying ? "Pause" : "Play"} onClick={togglePlayback}>
        <MediaIcon name={isPlaying ? "pause" : "play"} />
      </button>
      <div class="track" style={{ "--done": `${(progress * 100).toFixed(2)}%` }}>
        {voice === true ? <Waveform url={url} href={href} size={size} /> : <span class="name">{label}</span>}
        <input
          type="range"
          min="0"
          max={length > 0 ? length : Math.max(1, time)}
          step="any"
          value={time}
          aria-label="Position"
          aria-valuetext={length > 0 ? `${formatClock(time)} of ${formatClock(length)}` : formatClock(time)}
          onInput={(event) => seek(event.currentTarget.valueAsNumber)}
          onKeyDown={(event) => seekByKey(event, time, length, seek)}
        />
      </div>
      <span class="time">{formatPlaybackTime(time, length, isPlaying)}</span>
      <DownloadButton url={url} label={label} />
      <audio ref={audioRef} src={href ?? undefined} preload="metadata" {...hear.on} />
    </fieldset>
  )
}

/** What was recorded in a browser may not say how long it is until it was played. */
function formatPlaybackTime(time: number, length: number, isPlaying: boolean): string {
  const words = time > 0 || isPlaying ? [formatClock(time)] : []
  return [...words, ...(length > 0 ? [formatClock(length)] : [])].join(" / ")
}

/** The file itself, for other players. */
function DownloadButton({ url, label }: Pick<MediaSegment, "url" | "label">): VNode | null {
  const media = useMediaContext()
  const [fault, setFault] = useState<string | null>(null)
  if (media === null) return null
  const text = fault ?? "Download"
  return (
    <button
      type="button"
      class="save"
      aria-label={text}
      title={text}
      onClick={() => void downloadMedia(media, url, label).then(setFault)}
    >
      <MediaIcon name="download" />
    </button>
  )
}

/** What an arrow key moves, and with Page keys, in seconds. */
const SEEK_STEP_S = 5

/** A range without steps would be moved by a hair. */
function seekByKey(event: KeyboardEvent, time: number, length: number, seek: (to: number) => void): void {
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: SEEK_STEP_S,
    ArrowUp: SEEK_STEP_S,
    ArrowLeft: -SEEK_STEP_S,
    ArrowDown: -SEEK_STEP_S,
    PageUp: 2 * SEEK_STEP_S,
    PageDown: -2 * SEEK_STEP_S,
  }
  const step = steps[event.key]
  if (step === undefined) return
  event.preventDefault()
  seek(Math.min(Math.max(time + step, 0), length > 0 ? length : Number.MAX_SAFE_INTEGER))
}

/** How an audio element stands, and what it has to tell that. A length of 0 is not known (yet). */
function useAudioPlayback(audioRef: RefObject<HTMLAudioElement | null>, source: MediaSourceHandle) {
  const [isPlaying, setPlaying] = useState(false)
  const [time, setTime] = useState(0)
  const [length, setLength] = useState(0)
  const playbackResume = usePlaybackResume()
  useEffect(() => {
    const { current } = audioRef
    // An element that is taken away plays on.
    return () => current?.pause()
  }, [])
  const listeners = {
    onPlay(event: Event) {
      trackPlay(event.currentTarget as HTMLAudioElement)
      setPlaying(true)
    },
    onPause(event: Event) {
      trackPause(event.currentTarget as HTMLAudioElement)
      setPlaying(false)
    },
    onEnded: () => setTime(0),
    onTimeUpdate: () => setTime(audioRef.current?.currentTime ?? 0),
    onDurationChange: () =>
      setLength(Number.isFinite(audioRef.current?.duration) ? (audioRef.current?.duration ?? 0) : 0),
    onLoadedMetadata() {
      source.onLoad()
      if (audioRef.current !== null) playbackResume.restorePosition(audioRef.current)
    },
    onError() {
      if (audioRef.current !== null) playbackResume.savePosition(audioRef.current)
      setPlaying(false)
      source.onError()
    },
  }
  return { isPlaying, time, length, playback: { on: listeners, seek: setTime } }
}

interface WaveformProps {
  readonly url: string
  readonly href: string | null
  readonly size: number | undefined
}

/** A bar for every stretch of the note; one long bar where it cannot be known. */
function Waveform({ url, href, size }: WaveformProps): VNode {
  const svgRef = useRef<SVGSVGElement>(null)
  const isInView = useInView(svgRef)
  const [bars, setBars] = useState<readonly number[] | null>(null)
  useEffect(() => {
    if (!isInView || href === null || bars !== null) return
    void loadWaveform(url, href, size).then(setBars)
  }, [isInView, href])
  const path = bars === null ? `M2 16H${WAVEFORM_BARS * 4 - 2}` : barsToPath(bars)
  return (
    <svg
      class="wave"
      ref={svgRef}
      viewBox={`0 0 ${WAVEFORM_BARS * 4} 32`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={path} />
      <path class="done" d={path} />
    </svg>
  )
}

function barsToPath(bars: readonly number[]): string {
  return bars.map((bar, at) => `M${at * 4 + 2} ${(16 - bar * 14).toFixed(1)}V${(16 + bar * 14).toFixed(1)}`).join("")
}
