/**
 * media-label.ts: the text that replaces a file from another system: the file's kind, name and public URL.
 *
 * Nothing is fetched, and no bytes are imported (SPEC RE27). Pure.
 */

import { isJsonObject } from "../../json.ts"
import { checkPublicUrl } from "../../text/public-url.ts"
import { type Fields, toText } from "../record-writer.ts"

export type MediaKind = "image" | "audio" | "video" | "file"

/** The block types that contain a file, with the kind of file. */
const MEDIA_TYPES: Readonly<Record<string, MediaKind>> = {
  image: "image",
  image_url: "image",
  input_image: "image",
  output_image: "image",
  computer_screenshot: "image",
  image_asset_pointer: "image",
  audio: "audio",
  input_audio: "audio",
  output_audio: "audio",
  audio_asset_pointer: "audio",
  video: "video",
  video_url: "video",
  video_container_asset_pointer: "video",
  real_time_user_audio_video_asset_pointer: "video",
  file: "file",
  input_file: "file",
  document: "file",
  attachment: "file",
  container_upload: "file",
  resource_link: "file",
}

/** The fields in which other systems put a file's URL or details. */
const PLACES = ["image_url", "video_url", "file_url", "source", "file", "input_audio", "resource"] as const
const NAME_FIELDS = ["filename", "file_name", "fileName", "title", "name"] as const
const URL_FIELDS = ["url", "uri", "file_url"] as const

/** Returns the kind of file that a block contains; null if it contains none. */
export function getMediaKind(type: string): MediaKind | null {
  return Object.hasOwn(MEDIA_TYPES, type) ? (MEDIA_TYPES[type] ?? null) : null
}

export function formatMediaLabel(kind: MediaKind, block: Fields): string {
  const places = [...PLACES.map((place) => block[place]), block]
  const objects = places.filter(isJsonObject)
  const name = findText(objects, NAME_FIELDS)
  const urls = [...places, ...objects.flatMap((object) => URL_FIELDS.map((field) => object[field]))]
  const url = urls.map((candidate) => findPublicUrl(candidate)).find((found) => found !== null)
  return formatLabel(kind, name, url ?? "")
}

/** Returns a label in square brackets. Empty words are left out. */
export function formatLabel(...words: readonly string[]): string {
  return `[${words.filter((word) => word !== "").join(" ")}]`
}

/** Returns the value if it is a public https URL, or null. */
export function findPublicUrl(value: unknown): string | null {
  if (typeof value !== "string" || !value.startsWith("http")) return null
  const checked = checkPublicUrl(value)
  return checked.ok ? checked.value.href : null
}

function findText(objects: readonly Fields[], names: readonly string[]): string {
  for (const object of objects) {
    for (const name of names) if (toText(object[name]) !== "") return toText(object[name])
  }
  return ""
}
