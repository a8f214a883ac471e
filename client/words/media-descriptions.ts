/**
 * media-descriptions.ts: what is said of media and canvases where they cannot be shown: to the ear, in a copy, in a quote. Pure.
 */

import type { Segment } from "../../shared/protocol/segment.ts"

export type MediaSegment = Extract<Segment, { type: "media" }>
export type CanvasSegment = Extract<Segment, { type: "canvas" }>
export type MediaKind = MediaSegment["kind"]

const KIND_NAMES: { readonly [K in MediaKind]: string } = {
  image: "Picture",
  audio: "Audio",
  video: "Video",
  file: "File",
}

export function formatKind({ kind, voice }: Pick<MediaSegment, "kind" | "voice">): string {
  return voice === true ? "Voice note" : KIND_NAMES[kind]
}

/** "Picture: chart.png" */
export function describeMedia(segment: MediaSegment | CanvasSegment): string {
  if (segment.type === "canvas") return formatNamed("Document", segment.preview.title)
  return formatNamed(formatKind(segment), segment.label)
}

function formatNamed(kind: string, label = ""): string {
  return label === "" ? kind : `${kind}: ${label}`
}

/** "1.2 MB" */
export function formatSize(bytes: number): string {
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
export function formatExtension(label: string, mime = ""): string {
  const extension =
    /\.([a-z0-9]{1,4})$/i.exec(label)?.[1] ?? /^(?:application|text)\/(pdf|json|zip|csv)$/.exec(mime)?.[1]
  return extension?.toUpperCase() ?? ""
}

/** 75 → "1:15" */
export function formatClock(seconds: number): string {
  const wholeSeconds = Number.isFinite(seconds) ? Math.max(0, Math.round(seconds)) : 0
  return `${Math.floor(wholeSeconds / 60)}:${String(wholeSeconds % 60).padStart(2, "0")}`
}
