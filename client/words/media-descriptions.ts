/**
 * media-descriptions.ts: text that replaces media and canvases where they can't be shown: for screen readers, in copies
 * and in quotes. Pure.
 */

import type { Segment } from "../../shared/protocol/segment.ts"
import { translate } from "./languages/language.ts"

export type MediaSegment = Extract<Segment, { type: "media" }>
export type CanvasSegment = Extract<Segment, { type: "canvas" }>
export type MediaKind = MediaSegment["kind"]

/** The names of the kinds of media, for places that name media instead of showing it. */
export const mediaKindText = translate("mediaKind", {
  image: "Image",
  audio: "Audio",
  video: "Video",
  file: "File",
  voice: "Voice note",
  canvas: "Document",
})

export function formatKind({ kind, voice }: Pick<MediaSegment, "kind" | "voice">): string {
  return voice === true ? mediaKindText.voice : mediaKindText[kind]
}

/** "Image: chart", "File: plan.csv" */
export function describeMedia(segment: MediaSegment | CanvasSegment): string {
  if (segment.type === "canvas") return formatNamed(mediaKindText.canvas, segment.preview.title)
  return formatNamed(formatKind(segment), segment.kind === "image" ? describeImage(segment.label) : segment.label)
}

function formatNamed(kind: string, label = ""): string {
  return label === "" ? kind : `${kind}: ${label}`
}

/**
 * Returns the alternative text of an image: its label without the extension, because our tools use a description of the
 * image as its label.
 */
export function describeImage(label: string): string {
  return label.replace(/(?<=.)\.(?:png|jpe?g|gif|webp|avif)$/i, "")
}

/** Returns the short type that a file's icon shows, such as "PDF"; "" if there is none. */
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
