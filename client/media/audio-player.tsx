/**
 * audio-player.tsx: the player for audio files and voice notes.
 *
 * The seek bar is a range input, so mouse, touch and keyboard all work. Only one player plays at a time, and Escape
 * stops playback. If the URL expires during playback, the URL is renewed and playback continues at the same position.
 * SPEC PG58, PG59.
 */

import type { ComponentChildren, VNode } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { formatClock, formatKind, type MediaSegment } from "../words/media-descriptions.ts"
import { mediaText } from "../words/parts/media-text.ts"
import { ConsentGate } from "./consent-gate.tsx"
import { downloadMedia } from "./file-link.tsx"
import { describeLoadFault, type LoadFault } from "./load-failure.ts"
import { MediaIcon } from "./media-icons.tsx"
import { type AudioPlayback, useAudioPlayback } from "./use-audio-playback.ts"
import { useInView } from "./use-in-view.ts"
import { useMediaContext } from "./loading/media-context.ts"
import { type MediaSourceHandle, useMediaSource } from "./use-media-source.ts"

const WAVEFORM_BARS = 48

/**
 * Returns a voice note's waveform; null if the code can't be loaded or the file has no waveform. The code is loaded
 * when the first voice note comes into view.
 */
async function loadWaveform(url: string, href: string, size: number | undefined): Promise<string | null> {
  const module = await import("./waveform.ts").catch(() => null)
  return module === null ? null : await module.loadWaveformPath(url, href, size, WAVEFORM_BARS)
}

export function AudioView({ segment }: { readonly segment: MediaSegment }): VNode {
  const { url, label, voice } = segment
  const source = useMediaSource(url)
  const { state } = source
  if (state.at === "closed" || state.at === "failed") {
    const icon = voice === true ? "voice" : "audio"
    return <ConsentGate source={source} url={url} icon={icon} kind={formatKind(segment)} label={label} />
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
  const playback = useAudioPlayback(audioRef, source)
  const { url, label, size, voice } = segment
  return (
    <fieldset
      class="sound"
      data-voice={voice === true ? "" : undefined}
      aria-label={mediaText.named(formatKind(segment), label)}
    >
      <PlayButton playback={playback} />
      <SeekBar playback={playback}>
        {voice === true ? <Waveform url={url} href={href} size={size} /> : <span class="name">{label}</span>}
      </SeekBar>
      <span class="time">{formatPlaybackTime(playback)}</span>
      <DownloadButton url={url} label={label} />
      <audio ref={audioRef} src={href ?? undefined} preload="metadata" {...playback.listeners} />
    </fieldset>
  )
}

function PlayButton({ playback: { isPlaying, toggle } }: { readonly playback: AudioPlayback }): VNode {
  return (
    <button type="button" class="play" aria-label={isPlaying ? mediaText.pause : mediaText.play} onClick={toggle}>
      <MediaIcon name={isPlaying ? "pause" : "play"} />
    </button>
  )
}

interface SeekBarProps {
  readonly playback: AudioPlayback
  /** Rendered behind the range input. */
  readonly children: ComponentChildren
}

function SeekBar({ playback, children }: SeekBarProps): VNode {
  const { time, length, seek } = playback
  const progress = length > 0 ? Math.min(1, time / length) : 0
  return (
    <div class="track" style={{ "--done": `${(progress * 100).toFixed(2)}%` }}>
      {children}
      <input
        type="range"
        min="0"
        max={length > 0 ? length : Math.max(1, time)}
        step="any"
        value={time}
        aria-label={mediaText.seek}
        aria-valuetext={mediaText.position(time, length)}
        onInput={(event) => seek(event.currentTarget.valueAsNumber)}
        onKeyDown={(event) => seekByKey(event, playback)}
      />
    </div>
  )
}

/**
 * Formats the position and the length. The length is left out while it is unknown: a file recorded in a browser may not
 * declare its length.
 */
function formatPlaybackTime({ time, length, isPlaying }: AudioPlayback): string {
  const parts = time > 0 || isPlaying ? [formatClock(time)] : []
  return [...parts, ...(length > 0 ? [formatClock(length)] : [])].join(" / ")
}

/** A button that saves the file, so that it can be played in another program. */
function DownloadButton({ url, label }: Pick<MediaSegment, "url" | "label">): VNode | null {
  const media = useMediaContext()
  const [fault, setFault] = useState<LoadFault | null>(null)
  if (media === null) return null
  const text = fault === null ? mediaText.download : describeLoadFault(fault)
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

/** How far an arrow key seeks, in seconds. Page Up and Page Down seek twice as far. */
const SEEK_STEP_S = 5

const SEEK_STEPS_BY_KEY: Readonly<Record<string, number>> = {
  ArrowRight: SEEK_STEP_S,
  ArrowUp: SEEK_STEP_S,
  ArrowLeft: -SEEK_STEP_S,
  ArrowDown: -SEEK_STEP_S,
  PageUp: 2 * SEEK_STEP_S,
  PageDown: -2 * SEEK_STEP_S,
}

/** Seeks when a key is pressed. Replaces the browser's own steps, which are tiny because the input has `step="any"`. */
function seekByKey(event: KeyboardEvent, { time, length, seek }: AudioPlayback): void {
  const step = SEEK_STEPS_BY_KEY[event.key]
  if (step === undefined) return
  event.preventDefault()
  seek(Math.min(Math.max(time + step, 0), length > 0 ? length : Number.MAX_SAFE_INTEGER))
}

interface WaveformProps {
  readonly url: string
  readonly href: string | null
  readonly size: number | undefined
}

/** The loudness of a voice note as bars. Shows a single line until the bars have loaded, or if they can't be loaded. */
function Waveform({ url, href, size }: WaveformProps): VNode {
  const svgRef = useRef<SVGSVGElement>(null)
  const isInView = useInView(svgRef)
  const [waveform, setWaveform] = useState<string | null>(null)
  useEffect(() => {
    if (!isInView || href === null || waveform !== null) return
    void loadWaveform(url, href, size).then(setWaveform)
  }, [isInView, href])
  const path = waveform ?? `M2 16H${WAVEFORM_BARS * 4 - 2}`
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
