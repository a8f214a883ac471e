/**
 * media-descriptions.ts: what is said of media and canvases where they cannot be shown: to the ear, in a copy, in a quote. Pure.
 */

import type { Segment } from "../../shared/protocol/frame.ts"

export type MediaSegment = Extract<Segment, { type: "media" }>
export type CanvasSegment = Extract<Segment, { type: "canvas" }>
export type MediaKind = MediaSegment["kind"]

const NAMES: { readonly [K in MediaKind]: string } = { image: "Picture", audio: "Audio", video: "Video", file: "File" }

export function kindName({ kind, voice }: Pick<MediaSegment, "kind" | "voice">): string {
  return voice === true ? "Voice note" : NAMES[kind]
}

/** "Picture: chart.png" */
export function mediaWords(segment: MediaSegment | CanvasSegment): string {
  if (segment.type === "canvas") return named("Document", segment.preview.title)
  return named(kindName(segment), segment.label)
}

function named(kind: string, label = ""): string {
  return label === "" ? kind : `${kind}: ${label}`
}

/** "1.2 MB" */
export function sizeWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  const units = ["KB", "MB", "GB"]
  let size = bytes / 1000
  let unit = 0
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000
    unit++
  }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`
}

/** What stands on a file's picture: "PDF"; "" where nothing short says it. */
export function endingOf(label: string, mime = ""): string {
  const ending = /\.([a-z0-9]{1,4})$/i.exec(label)?.[1] ?? /^(?:application|text)\/(pdf|json|zip|csv)$/.exec(mime)?.[1]
  return ending?.toUpperCase() ?? ""
}

/** 75 → "1:15" */
export function clock(seconds: number): string {
  const whole = Number.isFinite(seconds) ? Math.max(0, Math.round(seconds)) : 0
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`
}
