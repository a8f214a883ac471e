/**
 * upload-runner.ts: runs the uploads of one draft (attachment-uploads.ts).
 *
 * At most MAX_PARALLEL_UPLOADS uploads run at a time. A failed upload can be retried if that may help. Source: SPEC
 * PG67–PG69.
 */

import { MAX_ATTACHMENTS } from "../../shared/limits.ts"
import { INVISIBLE_CHARS } from "../../shared/protocol/asset.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { describeError, isPermanentRefusal, RequestError } from "../net/http-request.ts"
import { formatSize } from "../words/format/file-size.ts"
import { refusedFileText } from "../words/attachment-chip-text.ts"
import { errorText } from "../words/page-text.ts"
import { getMaxBytes } from "./attachment-limits.ts"
import type { AttachmentUploads, UploadState } from "./attachment-uploads.ts"

/** Uploads one file to the draft's session. Rejects with RequestError if the server refuses the file. */
export type UploadFile = (file: File, onSent: (bytes: number) => void, signal: AbortSignal) => Promise<Asset>

/** Maximum number of parallel uploads. More would only share the same bandwidth. */
const MAX_PARALLEL_UPLOADS = 2

interface UploadJob {
  readonly file: File
  readonly uploadFile: UploadFile
  readonly abortController: AbortController
}

/** Returns the upload runner of a draft. */
export function getRunner(uploads: AttachmentUploads): UploadRunner {
  return uploads.ensureRunner((own) => new UploadRunner(own))
}

export class UploadRunner {
  readonly #uploads: AttachmentUploads
  readonly #jobs = new Map<number, UploadJob>()

  constructor(uploads: AttachmentUploads) {
    this.#uploads = uploads
  }

  /**
   * Adds files, up to the limit per message. Returns how many files were left out. Files that are empty or too large
   * fail at once.
   */
  addFiles(files: readonly File[], uploadFile: UploadFile): number {
    const freeSlots = Math.max(0, MAX_ATTACHMENTS - this.#uploads.entries.peek().length)
    for (const file of files.slice(0, freeSlots)) {
      const problem = findProblem(file)
      const key = this.#uploads.addEntry({
        // The server removes the same characters.
        name: file.name.replace(INVISIBLE_CHARS, "") || "file",
        size: file.size,
        previewUrl: file.type.startsWith("image/") ? URL.createObjectURL(file) : null,
        state: problem === null ? { at: "waiting" } : { at: "failed", text: problem, isFinal: true },
      })
      this.#jobs.set(key, { file, uploadFile, abortController: new AbortController() })
    }
    this.#startNext()
    return Math.max(0, files.length - freeSlots)
  }

  /** Aborts the upload of a file that was removed. */
  abort(key: number): void {
    this.#jobs.get(key)?.abortController.abort()
    this.#jobs.delete(key)
    this.#startNext()
  }

  retryUpload(key: number): void {
    this.#uploads.setState(key, { at: "waiting" })
    this.#startNext()
  }

  /** Retries the uploads that could not reach the server. Called when the device is back online. */
  retryUnreachable(): void {
    for (const { key, state } of this.#uploads.entries.peek())
      if (state.at === "failed" && state.text === errorText.unreachable) this.retryUpload(key)
  }

  #startNext(): void {
    const states = this.#uploads.entries.peek().map(({ state }) => state.at)
    if (states.filter((at) => at === "sending").length >= MAX_PARALLEL_UPLOADS) return
    const next = this.#uploads.entries.peek().find(({ state }) => state.at === "waiting")
    if (next === undefined) return
    void this.#runUpload(next.key)
    this.#startNext()
  }

  async #runUpload(key: number): Promise<void> {
    const job = this.#jobs.get(key)
    if (job === undefined) return
    this.#uploads.setState(key, { at: "sending", sent: 0 })
    try {
      const asset = await job.uploadFile(
        job.file,
        (sent) => this.#uploads.setState(key, { at: "sending", sent }),
        job.abortController.signal,
      )
      this.#jobs.delete(key)
      this.#uploads.setState(key, { at: "done", asset })
    } catch (error) {
      this.#uploads.setState(key, toFailedState(error))
    }
    this.#startNext()
  }
}

function toFailedState(error: unknown): UploadState {
  const isFinal = error instanceof RequestError && isPermanentRefusal(error)
  return { at: "failed", text: describeError(error), isFinal }
}

/** Returns a message that says why a file can't be uploaded; null if it can. */
function findProblem(file: File): string | null {
  if (file.size === 0) return refusedFileText.empty
  const maxBytes = getMaxBytes(file)
  return file.size > maxBytes ? refusedFileText.tooLarge(formatSize(maxBytes)) : null
}
