/**
 * model-files.ts: which files a model is given whole, and what each of them costs it.
 *
 * attachments → FILES → context → adapter
 * What is given is decided before anything is loaded, by what is known of a file beside its bytes.
 * Pure.
 */

import type { Asset } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import {
  AUDIO_BYTES_PER_TOKEN,
  MAX_MODEL_TEXT_BYTES,
  MIN_DOCUMENT_TOKENS,
  PDF_BYTES_PER_TOKEN,
  TOKENS_OF_IMAGE,
  VIDEO_BYTES_PER_TOKEN,
} from "../../shared/limits.ts"
import type { ModelFile, ModelMessage } from "./model-adapter.ts"

/** What a model may be able to read. `text` is read by all of them. */
const KINDS = ["image", "pdf", "audio", "video", "text"] as const

export type FileKind = (typeof KINDS)[number]

export type Takes = ReadonlySet<FileKind>

export const ALL_KINDS: Takes = new Set(KINDS)

/** The kinds of MODEL_TAKES, a comma-separated list; the fault, for the log, names what is none. */
export function takesIn(list = "image"): Result<Takes, string> {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
  const kinds = KINDS.filter((kind) => names.includes(kind))
  const odd = names.find((name) => !kinds.some((kind) => kind === name))
  if (odd !== undefined) return fail(`MODEL_TAKES has "${odd}"; it may have ${KINDS.join(", ")}`)
  return succeed(new Set<FileKind>([...kinds, "text"]))
}

const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])
const AUDIO = new Set(["audio/wav", "audio/mpeg", "audio/mp3"])

/** Null: no model reads such a file. */
export function fileKindOf({ kind, mime_type }: Pick<Asset, "kind" | "mime_type">): FileKind | null {
  const type = (mime_type.split(";")[0] ?? "").trim().toLowerCase()
  if (IMAGES.has(type)) return "image"
  if (AUDIO.has(type)) return "audio"
  if (type === "application/pdf") return "pdf"
  if (kind === "video" && type.startsWith("video/")) return "video"
  return kind === "file" && (type.startsWith("text/") || type === "application/json") ? "text" : null
}

/** Tokens of a file that is given whole, before any model has counted them. It errs upwards. */
export function tokensOfFile(asset: Asset): number {
  switch (fileKindOf(asset)) {
    case "image":
      return TOKENS_OF_IMAGE
    case "text":
      // Three bytes a token is the most that any UTF-8 costs (tokens.ts).
      return Math.ceil(loadedBytes(asset) / 3)
    case "pdf":
      return Math.max(MIN_DOCUMENT_TOKENS, Math.ceil(asset.size / PDF_BYTES_PER_TOKEN))
    case "audio":
      return Math.ceil(asset.size / AUDIO_BYTES_PER_TOKEN)
    case "video":
      return Math.ceil(asset.size / VIDEO_BYTES_PER_TOKEN)
    case null:
      return 0
  }
}

/** Bytes that are read of a file: of a long text its head is enough. */
export function loadedBytes(asset: Asset): number {
  return fileKindOf(asset) === "text" ? Math.min(asset.size, MAX_MODEL_TEXT_BYTES) : asset.size
}

/** What may still be given with one model call. */
export interface FileRoom {
  readonly takes: Takes
  readonly tokens: number
  readonly bytes: number
}

export interface GivenFiles {
  readonly messages: readonly ModelMessage[]
  /** What is left of the room. */
  readonly room: FileRoom
}

/**
 * Gives the files of these messages as far as there is room, those of the newest message first; all others are only told.
 *
 * Cost    linear in the messages.
 * Source  SPEC AT5.
 */
export function giveFiles(messages: readonly ModelMessage[], room: FileRoom): GivenFiles {
  let { tokens, bytes } = room
  const give = (file: ModelFile): ModelFile => {
    const kind = fileKindOf(file.asset)
    if (kind === null || !room.takes.has(kind)) return { ...file, given: "untaken" }
    const [cost, size] = [tokensOfFile(file.asset), loadedBytes(file.asset)]
    if (cost > tokens || size > bytes) return file
    tokens -= cost
    bytes -= size
    return { ...file, given: "whole" }
  }
  const given = [...messages].reverse().map((message) => {
    return message.role === "user" && message.files !== undefined
      ? { ...message, files: message.files.map(give) }
      : message
  })
  return { messages: given.reverse(), room: { ...room, tokens, bytes } }
}
