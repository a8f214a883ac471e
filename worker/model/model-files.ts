/**
 * model-files.ts: selects the files that a model receives whole, and estimates their tokens. Pure.
 *
 * The selection uses metadata only (type and size), so no file is loaded for it.
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

/** Kinds of files that a model may accept. Every model accepts `text`. */
const FILE_KINDS = ["image", "pdf", "audio", "video", "text"] as const

export type FileKind = (typeof FILE_KINDS)[number]

export type FileKinds = ReadonlySet<FileKind>

export const ALL_FILE_KINDS: FileKinds = new Set(FILE_KINDS)

/** Returns the kinds in MODEL_TAKES, a comma-separated list. The fault, for the log, names the first unknown kind. */
export function parseFileKinds(list = "image"): Result<FileKinds, string> {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
  const kinds = FILE_KINDS.filter((kind) => names.includes(kind))
  const unknownName = names.find((name) => !kinds.some((kind) => kind === name))
  if (unknownName !== undefined)
    return fail(`MODEL_TAKES has "${unknownName}", but allows only ${FILE_KINDS.join(", ")}`)
  return succeed(new Set<FileKind>([...kinds, "text"]))
}

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])
const AUDIO_TYPES = new Set(["audio/wav", "audio/mpeg", "audio/mp3"])

/** Returns the kind of a file; null if no model accepts it. */
export function getFileKind({ kind, mime_type }: Pick<Asset, "kind" | "mime_type">): FileKind | null {
  const type = (mime_type.split(";")[0] ?? "").trim().toLowerCase()
  if (IMAGE_TYPES.has(type)) return "image"
  if (AUDIO_TYPES.has(type)) return "audio"
  if (type === "application/pdf") return "pdf"
  if (kind === "video" && type.startsWith("video/")) return "video"
  return kind === "file" && (type.startsWith("text/") || type === "application/json") ? "text" : null
}

/** Estimates the tokens of a file that is included whole. The estimate is on the high side. */
export function estimateFileTokens(asset: Asset): number {
  switch (getFileKind(asset)) {
    case "image":
      return IMAGE_TOKENS
    case "text":
      // token-estimate.ts counts at most one token per three bytes of UTF-8.
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

/** Returns the number of bytes to read from a file. Only the start of a long text file is read. */
export function getLoadedBytes(asset: Asset): number {
  return getFileKind(asset) === "text" ? Math.min(asset.size, MAX_MODEL_TEXT_BYTES) : asset.size
}

/** The tokens and bytes that one model call can still include. */
export interface FileBudget {
  readonly fileKinds: FileKinds
  readonly tokens: number
  readonly bytes: number
}

export interface FileSelection {
  readonly messages: readonly ModelMessage[]
  readonly remainingBudget: FileBudget
}

/**
 * Includes the files of `messages` that fit, starting with the newest message. Other files are only named (SPEC AT5,
 * AT7, AT8).
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
