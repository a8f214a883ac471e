/**
 * attachment-uploads.ts: the attachments of a message that is being written.
 *
 * picker, drop, paste → UPLOADS → POST /v1/sessions/:id/assets → asset ids of the send frame
 * Uploads belong to the draft, so they continue while the user looks at another session. At most MAX_PARALLEL_UPLOADS
 * run at a time. Each can be cancelled, and a failed one can be retried if that may help. Source: SPEC PG67–PG69.
 */

import { type Signal, signal } from "@preact/signals"
import { INVISIBLE_CHARS } from "../../shared/protocol/asset.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { MAX_ATTACHMENTS } from "../../shared/limits.ts"
import { describeError, isPermanentRefusal, RequestError } from "../net/http-request.ts"
import { formatSize } from "../words/media-descriptions.ts"
import { attachmentText, errorText } from "../words/page-text.ts"
import { getMaxBytes } from "./attachment-limits.ts"

export type UploadState =
  | { readonly at: "waiting" }
  /** `sent` is in bytes. */
  | { readonly at: "sending"; readonly sent: number }
  | { readonly at: "done"; readonly asset: Asset }
  /** `isFinal`: retrying would not help. */
  | { readonly at: "failed"; readonly text: string; readonly isFinal: boolean }

export interface AttachmentUpload {
  readonly key: number
  readonly name: string
  readonly size: number
  /** A blob URL if the file is an image, otherwise null. */
  readonly previewUrl: string | null
  readonly state: UploadState
}

/** Uploads one file to the draft's session. Rejects with RequestError if the server refuses it. */
export type UploadFile = (file: File, onSent: (bytes: number) => void, signal: AbortSignal) => Promise<Asset>

/** Maximum number of parallel uploads. More would only share the same bandwidth. */
const MAX_PARALLEL_UPLOADS = 2

interface UploadJob {
  readonly file: File
  readonly uploadFile: UploadFile
  readonly abortController: AbortController
}

export class AttachmentUploads {
  readonly entries: Signal<readonly AttachmentUpload[]> = signal([])
  readonly #jobs = new Map<number, UploadJob>()
  #lastKey = 0

  /**
   * Adds files up to a message's limit, and returns how many were left out. Files that are empty or too large fail at once.
   */
  addFiles(files: readonly File[], uploadFile: UploadFile): number {
    const freeSlots = Math.max(0, MAX_ATTACHMENTS - this.entries.peek().length)
    for (const file of files.slice(0, freeSlots)) {
      const key = ++this.#lastKey
      const problem = findProblem(file)
      this.#jobs.set(key, { file, uploadFile, abortController: new AbortController() })
      this.#appendEntry({
        key,
        // The server removes the same characters.
        name: file.name.replace(INVISIBLE_CHARS, "") || "file",
        size: file.size,
        previewUrl: file.type.startsWith("image/") ? URL.createObjectURL(file) : null,
        state: problem === null ? { at: "waiting" } : { at: "failed", text: problem, isFinal: true },
      })
    }
    this.#startNext()
    return Math.max(0, files.length - freeSlots)
  }

  /** Removes an upload in any state; a running one is aborted. */
  removeUpload(key: number): void {
    const entry = this.#findEntry(key)
    this.#jobs.get(key)?.abortController.abort()
    this.#jobs.delete(key)
    if (entry?.previewUrl != null) URL.revokeObjectURL(entry.previewUrl)
    this.entries.value = this.entries.peek().filter((other) => other.key !== key)
    this.#startNext()
  }

  retryUpload(key: number): void {
    this.#setState(key, { at: "waiting" })
    this.#startNext()
  }

  /** Retries the uploads that could not reach the server. Called when the device is back online. */
  retryUnreachable(): void {
    for (const { key, state } of this.entries.peek())
      if (state.at === "failed" && state.text === errorText.unreachable) this.retryUpload(key)
  }

  /** Whether all uploads have finished. */
  get isReady(): boolean {
    return this.entries.value.every(({ state }) => state.at === "done")
  }

  /** Removes the attachments from the draft and returns them, because their message is being sent. */
  takeAssets(): readonly Asset[] {
    const assets = this.listUploaded()
    this.removeAll()
    return assets
  }

  /** Returns the assets of the finished uploads. */
  listUploaded(): readonly Asset[] {
    return this.entries.value.flatMap(({ state }) => (state.at === "done" ? state.asset : []))
  }

  removeAll(): void {
    for (const { key } of this.entries.peek()) this.removeUpload(key)
  }

  /** Adds the attachments of a withdrawn message. The server already has them. */
  restoreAssets(assets: readonly Asset[]): void {
    for (const asset of assets) {
      const { label: name, size } = asset
      this.#appendEntry({ key: ++this.#lastKey, name, size, previewUrl: null, state: { at: "done", asset } })
    }
  }

  #startNext(): void {
    const states = this.entries.peek().map(({ state }) => state.at)
    if (states.filter((at) => at === "sending").length >= MAX_PARALLEL_UPLOADS) return
    const next = this.entries.peek().find(({ state }) => state.at === "waiting")
    if (next === undefined) return
    void this.#runUpload(next.key)
    this.#startNext()
  }

  async #runUpload(key: number): Promise<void> {
    const job = this.#jobs.get(key)
    if (job === undefined) return
    this.#setState(key, { at: "sending", sent: 0 })
    try {
      const asset = await job.uploadFile(
        job.file,
        (sent) => this.#setState(key, { at: "sending", sent }),
        job.abortController.signal,
      )
      this.#jobs.delete(key)
      this.#setState(key, { at: "done", asset })
    } catch (error) {
      this.#setState(key, toFailedState(error))
    }
    this.#startNext()
  }

  #findEntry(key: number): AttachmentUpload | undefined {
    return this.entries.peek().find((entry) => entry.key === key)
  }

  #appendEntry(entry: AttachmentUpload): void {
    this.entries.value = [...this.entries.peek(), entry]
  }

  /** Does nothing if the upload was removed in the meantime. */
  #setState(key: number, state: UploadState): void {
    this.entries.value = this.entries.peek().map((entry) => (entry.key === key ? { ...entry, state } : entry))
  }
}

function toFailedState(error: unknown): UploadState {
  const isFinal = error instanceof RequestError && isPermanentRefusal(error)
  return { at: "failed", text: describeError(error), isFinal }
}

/** Says why a file can't be uploaded; null if it can. */
function findProblem(file: File): string | null {
  if (file.size === 0) return attachmentText.empty
  const maxBytes = getMaxBytes(file)
  return file.size > maxBytes ? attachmentText.tooLarge(formatSize(maxBytes)) : null
}
