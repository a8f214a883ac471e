/**
 * attachment-uploads.ts: the attachments of a message that is being written.
 *
 * picker, drop, paste → UPLOADS → POST /v1/sessions/:id/assets → asset ids of the send frame
 * Uploads belong to the draft, so they continue while the user looks at another session. Each upload can be cancelled.
 * The code that runs uploads (upload-runner.ts) is loaded after the initial render, or with the first file. Source:
 * SPEC PG67–PG69.
 */

import { type Signal, signal } from "@preact/signals"
import type { Asset } from "../../shared/protocol/event.ts"
import type { UploadRunner } from "./upload-runner.ts"

export type UploadState =
  | { readonly at: "waiting" }
  /** `sent`: the number of bytes sent so far. */
  | { readonly at: "sending"; readonly sent: number }
  | { readonly at: "done"; readonly asset: Asset }
  /** `isFinal`: whether retrying would be pointless. */
  | { readonly at: "failed"; readonly text: string; readonly isFinal: boolean }

export interface AttachmentUpload {
  readonly key: number
  readonly name: string
  readonly size: number
  /** A blob URL if the file is an image, otherwise null. */
  readonly previewUrl: string | null
  readonly state: UploadState
}

export class AttachmentUploads {
  readonly entries: Signal<readonly AttachmentUpload[]> = signal([])
  /** Runs the uploads. Null until files are added. */
  #runner: UploadRunner | null = null
  /** Files that become uploads as soon as the code for uploads has been loaded. */
  readonly chosen: Signal<readonly File[]> = signal([])
  #lastKey = 0

  /** Removes an upload in any state; a running one is aborted. */
  removeUpload(key: number): void {
    const url = this.entries.peek().find((entry) => entry.key === key)?.previewUrl
    if (url != null) URL.revokeObjectURL(url)
    this.entries.value = this.entries.peek().filter((entry) => entry.key !== key)
    this.#runner?.abort(key)
  }

  /** Returns this draft's upload runner. The first call creates it. */
  ensureRunner(create: (uploads: AttachmentUploads) => UploadRunner): UploadRunner {
    this.#runner ??= create(this)
    return this.#runner
  }

  /** Whether all uploads have succeeded. */
  get isReady(): boolean {
    return this.chosen.value.length === 0 && this.entries.value.every(({ state }) => state.at === "done")
  }

  /** Removes the attachments from the draft and returns them. Called when the message is sent. */
  takeAssets(): readonly Asset[] {
    const assets = this.listUploaded()
    this.removeAll()
    return assets
  }

  /** Returns the assets of the successful uploads. */
  listUploaded(): readonly Asset[] {
    return this.entries.value.flatMap(({ state }) => (state.at === "done" ? state.asset : []))
  }

  removeAll(): void {
    this.chosen.value = []
    for (const { key } of this.entries.peek()) this.removeUpload(key)
  }

  /** Adds the attachments of a withdrawn message. The server already has them. */
  restoreAssets(assets: readonly Asset[]): void {
    for (const asset of assets) {
      const { label: name, size } = asset
      this.addEntry({ name, size, previewUrl: null, state: { at: "done", asset } })
    }
  }

  /** Adds an upload. Returns its key. */
  addEntry(entry: Omit<AttachmentUpload, "key">): number {
    const key = ++this.#lastKey
    this.entries.value = [...this.entries.peek(), { ...entry, key }]
    return key
  }

  /** Sets an upload's state. Does nothing if the upload was removed in the meantime. */
  setState(key: number, state: UploadState): void {
    this.entries.value = this.entries.peek().map((entry) => (entry.key === key ? { ...entry, state } : entry))
  }
}
