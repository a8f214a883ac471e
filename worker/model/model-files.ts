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
  IMAGE_TOKENS,
  VIDEO_BYTES_PER_TOKEN,
} from "../../shared/limits.ts"
import type { ModelFile, ModelMessage } from "./model-adapter.ts"

/** What a model may be able to read. `text` is read by all of them. */
const FILE_KINDS = ["image", "pdf", "audio", "video", "text"] as const

export type FileKind = (typeof FILE_KINDS)[number]

export type FileKinds = ReadonlySet<FileKind>

export const ALL_FILE_KINDS: FileKinds = new Set(FILE_KINDS)

/** The kinds of MODEL_TAKES, a comma-separated list; the fault, for the log, names what is none. */
export function parseFileKinds(list = "image"): Result<FileKinds, string> {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
  const kinds = FILE_KINDS.filter((kind) => names.includes(kind))
  const unknownName = names.find((name) => !kinds.some((kind) => kind === name))
  if (unknownName !== undefined) return fail(`MODEL_TAKES has "${unknownName}"; it may have ${FILE_KINDS.join(", ")}`)
  return succeed(new Set<FileKind>([...kinds, "text"]))
}

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])
const AUDIO_TYPES = new Set(["audio/wav", "audio/mpeg", "audio/mp3"])

/** Null: no model reads such a file. */
export function getFileKind({ kind, mime_type }: Pick<Asset, "kind" | "mime_type">): FileKind | null {
  const type = (mime_type.split(";")[0] ?? "").trim().toLowerCase()
  if (IMAGE_TYPES.has(type)) return "image"
  if (AUDIO_TYPES.has(type)) return "audio"
  if (type === "application/pdf") return "pdf"
  if (kind === "video" && type.startsWith("video/")) return "video"
  return kind === "file" && (type.startsWith("text/") || type === "application/json") ? "text" : null
}

/** Tokens of a file that is given whole, before any model has counted them. It errs upwards. */
export function estimateFileTokens(asset: Asset): number {
  switch (getFileKind(asset)) {
    case "image":
      return IMAGE_TOKENS
    case "text":
      // Three bytes a token is the most that any UTF-8 costs (tokens.ts).
      return Math.ceil(getLoadedBytes(asset) / 3)
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
export function getLoadedBytes(asset: Asset): number {
  return getFileKind(asset) === "text" ? Math.min(asset.size, MAX_MODEL_TEXT_BYTES) : asset.size
}

/** What may still be given with one model call. */
export interface FileBudget {
  readonly fileKinds: FileKinds
  readonly tokens: number
  readonly bytes: number
}

export interface FileSelection {
  readonly messages: readonly ModelMessage[]
  /** What is left of the room. */
  readonly remainingBudget: FileBudget
}

/**
 * Gives the files of these messages as far as there is room, those of the newest message first; all others are only told.
 *
 * Cost    linear in the messages.
 * Source  SPEC AT5.
 */
export function includeFiles(messages: readonly ModelMessage[], budget: FileBudget): FileSelection {
  let { tokens, bytes } = budget
  const includeFile = (file: ModelFile): ModelFile => {
    const kind = getFileKind(file.asset)
    if (kind === null || !budget.fileKinds.has(kind)) return { ...file, inclusion: "untaken" }
    const [cost, size] = [estimateFileTokens(file.asset), getLoadedBytes(file.asset)]
    if (cost > tokens || size > bytes) return file
    tokens -= cost
    bytes -= size
    return { ...file, inclusion: "whole" }
  }
  const updated = [...messages].reverse().map((message) => {
    return message.role === "user" && message.files !== undefined
      ? { ...message, files: message.files.map(includeFile) }
      : message
  })
  return { messages: updated.reverse(), remainingBudget: { ...budget, tokens, bytes } }
}
