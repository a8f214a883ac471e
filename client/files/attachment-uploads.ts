/**
 * attachment-uploads.ts: files that go with a message that is being written.
 *
 * picker, drop, paste → FILES → POST /v1/sessions/:id/assets → asset ids of the send frame
 * Kept with the draft, outside the components: an upload goes on while its reader looks elsewhere. At most MAX_PARALLEL_UPLOADS at a
 * time; each can be given up, and tried again where trying can help. Source: SPEC PG67–PG69.
 */

import { type Signal, signal } from "@preact/signals"
import { INVISIBLE_CHARS } from "../../shared/protocol/asset.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_ATTACHMENTS } from "../../shared/limits.ts"
import { type Api, RequestError } from "../net/api.ts"
import type { SendFile } from "./send-file.ts"
import { getMaxBytes } from "./attachment-limits.ts"

export type UploadState =
  | { readonly at: "waiting" }
  /** Bytes that have gone. */
  | { readonly at: "sending"; readonly sent: number }
  | { readonly at: "done"; readonly asset: Asset }
  /** In the server's words. `isFinal`: trying again would not help. */
  | { readonly at: "failed"; readonly text: string; readonly isFinal: boolean }

export interface AttachmentUpload {
  readonly key: number
  readonly name: string
  readonly size: number
  /** Where its own page can show it, for a picture. */
  readonly previewUrl: string | null
  readonly state: UploadState
}

/** Brings one file to the session that the draft is for. Rejects with RequestError where the server refused it. */
export type UploadFile = (file: File, onSent: (bytes: number) => void, signal: AbortSignal) => Promise<Asset>

/** Uploads at a time: one line is shared by all of them. */
const MAX_PARALLEL_UPLOADS = 2

const UNREACHABLE_TEXT = "The server could not be reached."

interface UploadJob {
  readonly file: File
  readonly uploadFile: UploadFile
  readonly abortController: AbortController
}

export class AttachmentUploads {
  readonly entries: Signal<readonly AttachmentUpload[]> = signal([])
  readonly #jobs = new Map<number, UploadJob>()
  #lastKey = 0

  /** As many as a message may have; what is too large is not sent at all. How many were left out. */
  addFiles(files: readonly File[], uploadFile: UploadFile): number {
    const freeSlots = Math.max(0, MAX_ATTACHMENTS - this.entries.peek().length)
    for (const file of files.slice(0, freeSlots)) {
      const key = ++this.#lastKey
      const isTooLarge = file.size > getMaxBytes(file)
      const isEmpty = file.size === 0
      const text = isEmpty ? "The file is empty." : `It may have ${Math.floor(getMaxBytes(file) / 2 ** 20)} MB at most.`
      this.#jobs.set(key, { file, uploadFile, abortController: new AbortController() })
      this.#appendEntry({
        // As it will be called on the server.
        key,
        name: file.name.replace(INVISIBLE_CHARS, "") || "file",
        size: file.size,
        previewUrl: file.type.startsWith("image/") ? URL.createObjectURL(file) : null,
        state: isTooLarge || isEmpty ? { at: "failed", text, isFinal: true } : { at: "waiting" },
      })
    }
    this.#startNext()
    return Math.max(0, files.length - freeSlots)
  }

  /** Takes it away, wherever it is. */
  removeUpload(key: number): void {
    const entry = this.#findEntry(key)
    this.#jobs.get(key)?.abortController.abort()
    this.#jobs.delete(key)
    if (entry?.previewUrl != null) URL.revokeObjectURL(entry.previewUrl)
    this.entries.value = this.entries.peek().filter((one) => one.key !== key)
    this.#startNext()
  }

  retryUpload(key: number): void {
    this.#setState(key, { at: "waiting" })
    this.#startNext()
  }

  /** The machine is back: what found no server is tried again. */
  retryUnreachable(): void {
    for (const { key, state } of this.entries.peek())
      if (state.at === "failed" && state.text === UNREACHABLE_TEXT) this.retryUpload(key)
  }

  /** All are up. */
  get isReady(): boolean {
    return this.entries.value.every(({ state }) => state.at === "done")
  }

  /** They are said: the draft has none any more. */
  takeAssets(): readonly Asset[] {
    const assets = this.entries.peek().flatMap(({ state }) => (state.at === "done" ? state.asset : []))
    for (const { key } of this.entries.peek()) this.removeUpload(key)
    return assets
  }

  /** Files of a message that came back. They are on the server already. */
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

  /** One that was taken away meanwhile stays away. */
  #setState(key: number, state: UploadState): void {
    this.entries.value = this.entries.peek().map((entry) => (entry.key === key ? { ...entry, state } : entry))
  }
}

function toFailedState(error: unknown): UploadState {
  if (!(error instanceof RequestError)) return { at: "failed", text: UNREACHABLE_TEXT, isFinal: false }
  const isFinal = error.status < 500 && ![401, 408, 429].includes(error.status)
  return { at: "failed", text: error.message, isFinal }
}

/** One file to one session; a token that was refused is renewed once. */
export async function uploadAttachment(
  sessionId: string,
  { api, upload: sendFile }: { readonly api: Pick<Api, "getToken" | "forgetToken">; readonly upload: SendFile },
  ...[file, onSent, signal]: Parameters<UploadFile>
): Promise<Asset> {
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}/assets?name=${encodeURIComponent(file.name)}`
  const sendOnce = async () => sendFile(path, file, (await api.getToken()).token, onSent, signal)
  let response = await sendOnce()
  if (response.status === 401) {
    api.forgetToken()
    response = await sendOnce()
  }
  const body = Object(parseJson(response.text)) as Asset & { readonly text?: unknown }
  if (response.status >= 200 && response.status < 300) return pickAssetFields(body)
  const message = typeof body.text === "string" ? body.text : `The server answered ${response.status}.`
  throw new RequestError(response.status, message)
}

function pickAssetFields({ id, kind, mime_type, label, size, voice, width, height }: Asset): Asset {
  const dimensions = width === undefined || height === undefined ? {} : { width, height }
  return { id, kind, mime_type, label, size, ...(voice === true ? { voice } : {}), ...dimensions }
}
