/**
 * audio-player.tsx: a player for audio, and for voice notes, which have a look of their own.
 *
 * source → audio element → AUDIO
 * A range holds the place, so mouse, finger and keyboard move it alike. One plays at a time; Escape stops it. An address
 * that ran out in the middle is renewed, and it goes on where it was. Source: SPEC PG39.
 */

import type { RefObject, VNode } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { download } from "./file-link.tsx"
import { Gate } from "./consent-gate.tsx"
import { Icon } from "./media-icons.tsx"
import { clock, type MediaSegment } from "../words/media-descriptions.ts"
import { usePlace } from "./use-playback-resume.ts"
import { useSeen } from "./use-in-view.ts"
import { notePause, notePlay } from "./exclusive-playback.ts"
import { type Source, useMedia, useSource } from "./use-media-source.ts"
import { WAVE_BARS, waveOf } from "./waveform.ts"

export function AudioView({ segment }: { readonly segment: MediaSegment }): VNode {
  const { url, label, voice } = segment
  const source = useSource(url)
  const { state } = source
  if (state.at === "closed" || state.at === "failed") {
    const kind = voice === true ? "Voice note" : "Audio"
    return <Gate source={source} url={url} icon={voice === true ? "voice" : "audio"} kind={kind} label={label} />
  }
  return <Player segment={segment} source={source} href={state.at === "ready" ? state.href : null} />
}

interface PlayerProps {
  readonly segment: MediaSegment
  readonly source: Source
  readonly href: string | null
}

function Player({ segment, source, href }: PlayerProps): VNode {
  const sound = useRef<HTMLAudioElement>(null)
  const { isPlaying, time, length, hear } = useSound(sound, source)
  const { url, label, size, voice } = segment
  const toggle = (): void => {
    const { current } = sound
    if (current === null) return
    if (current.paused) current.play().catch(() => {})
    else current.pause()
  }
  const seek = (to: number): void => {
    if (sound.current !== null) sound.current.currentTime = to
    hear.seek(to)
  }
  const share = length > 0 ? Math.min(1, time / length) : 0
  return (
    <fieldset
      class="sound"
      data-voice={voice === true ? "" : undefined}
      aria-label={`${voice === true ? "Voice note" : "Audio"}: ${label}`}
    >
      <button type="button" class="play" aria-label={isPlaying ? "Pause" : "Play"} onClick={toggle}>
        <Icon name={isPlaying ? "pause" : "play"} />
      </button>
      <div class="track" style={{ "--done": `${(share * 100).toFixed(2)}%` }}>
        {voice === true ? <Wave url={url} href={href} size={size} /> : <span class="name">{label}</span>}
        <input
          type="range"
          min="0"
          max={length > 0 ? length : Math.max(1, time)}
          step="any"
          value={time}
          aria-label="Position"
          aria-valuetext={length > 0 ? `${clock(time)} of ${clock(length)}` : clock(time)}
          onInput={(event) => seek(event.currentTarget.valueAsNumber)}
          onKeyDown={(event) => nudge(event, time, length, seek)}
        />
      </div>
      <span class="time">{timeWords(time, length, isPlaying)}</span>
      <Save url={url} label={label} />
      <audio ref={sound} src={href ?? undefined} preload="metadata" {...hear.on} />
    </fieldset>
  )
}

/** What was recorded in a browser may not say how long it is until it was played. */
function timeWords(time: number, length: number, isPlaying: boolean): string {
  const words = time > 0 || isPlaying ? [clock(time)] : []
  return [...words, ...(length > 0 ? [clock(length)] : [])].join(" / ")
}

/** The file itself, for other players. */
function Save({ url, label }: Pick<MediaSegment, "url" | "label">): VNode | null {
  const media = useMedia()
  const [fault, setFault] = useState<string | null>(null)
  if (media === null) return null
  const words = fault ?? "Download"
  return (
    <button
      type="button"
      class="save"
      aria-label={words}
      title={words}
      onClick={() => void download(media, url, label).then(setFault)}
    >
      <Icon name="download" />
    </button>
  )
}

/** What an arrow key moves, and with Page keys, in seconds. */
const STEP_S = 5

/** A range without steps would be moved by a hair. */
function nudge(event: KeyboardEvent, time: number, length: number, seek: (to: number) => void): void {
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowRight: STEP_S, ArrowUp: STEP_S, ArrowLeft: -STEP_S, ArrowDown: -STEP_S },
    ...{ PageUp: 2 * STEP_S, PageDown: -2 * STEP_S },
  }
  const step = steps[event.key]
  if (step === undefined) return
  event.preventDefault()
  seek(Math.min(Math.max(time + step, 0), length > 0 ? length : Number.MAX_SAFE_INTEGER))
}

/** How an audio element stands, and what it has to tell that. A length of 0 is not known (yet). */
function useSound(sound: RefObject<HTMLAudioElement | null>, source: Source) {
  const [isPlaying, setPlaying] = useState(false)
  const [time, setTime] = useState(0)
  const [length, setLength] = useState(0)
  const place = usePlace()
  useEffect(() => {
    const { current } = sound
    // An element that is taken away plays on.
    return () => current?.pause()
  }, [])
  const on = {
    onPlay(event: Event) {
      notePlay(event.currentTarget as HTMLAudioElement)
      setPlaying(true)
    },
    onPause(event: Event) {
      notePause(event.currentTarget as HTMLAudioElement)
      setPlaying(false)
    },
    onEnded: () => setTime(0),
    onTimeUpdate: () => setTime(sound.current?.currentTime ?? 0),
    onDurationChange: () => setLength(Number.isFinite(sound.current?.duration) ? (sound.current?.duration ?? 0) : 0),
    onLoadedMetadata() {
      source.onLoad()
      if (sound.current !== null) place.resume(sound.current)
    },
    onError() {
      if (sound.current !== null) place.keep(sound.current)
      setPlaying(false)
      source.onError()
    },
  }
  return { isPlaying, time, length, hear: { on, seek: setTime } }
}

interface WaveProps {
  readonly url: string
  readonly href: string | null
  readonly size: number | undefined
}

/** A bar for every stretch of the note; one long bar where it cannot be known. */
function Wave({ url, href, size }: WaveProps): VNode {
  const box = useRef<SVGSVGElement>(null)
  const isSeen = useSeen(box)
  const [bars, setBars] = useState<readonly number[] | null>(null)
  useEffect(() => {
    if (!isSeen || href === null || bars !== null) return
    void waveOf(url, href, size).then(setBars)
  }, [isSeen, href])
  const path = bars === null ? `M2 16H${WAVE_BARS * 4 - 2}` : pathOf(bars)
  return (
    <svg class="wave" ref={box} viewBox={`0 0 ${WAVE_BARS * 4} 32`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
      <path class="done" d={path} />
    </svg>
  )
}

function pathOf(bars: readonly number[]): string {
  return bars.map((bar, at) => `M${at * 4 + 2} ${(16 - bar * 14).toFixed(1)}V${(16 + bar * 14).toFixed(1)}`).join("")
}
