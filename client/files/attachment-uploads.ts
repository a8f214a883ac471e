/**
 * attachment-uploads.ts: files that go with a message that is being written.
 *
 * picker, drop, paste → FILES → POST /v1/sessions/:id/assets → asset ids of the send frame
 * Kept with the draft, outside the components: an upload goes on while its reader looks elsewhere. At most UNDER_WAY at a
 * time; each can be given up, and tried again where trying can help. Source: SPEC PG42.
 */

import { type Signal, signal } from "@preact/signals"
import { UNSEEN } from "../../shared/protocol/asset.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { parseJson } from "../../shared/protocol/frame.ts"
import { MAX_ATTACHMENTS } from "../../shared/limits.ts"
import { type Api, RequestError } from "../net/api.ts"
import type { Upload } from "./send-file.ts"
import { maxBytes } from "./attachment-limits.ts"

export type FileState =
  | { readonly at: "waiting" }
  /** Bytes that have gone. */
  | { readonly at: "sending"; readonly sent: number }
  | { readonly at: "done"; readonly asset: Asset }
  /** In the server's words. `isFinal`: trying again would not help. */
  | { readonly at: "failed"; readonly text: string; readonly isFinal: boolean }

export interface Attached {
  readonly key: number
  readonly name: string
  readonly size: number
  /** Where its own page can show it, for a picture. */
  readonly preview: string | null
  readonly state: FileState
}

/** Brings one file to the session that the draft is for. Rejects with RequestError where the server refused it. */
export type Uplink = (file: File, onSent: (bytes: number) => void, signal: AbortSignal) => Promise<Asset>

/** Uploads at a time: one line is shared by all of them. */
const UNDER_WAY = 2

const UNREACHED = "The server could not be reached."

interface Job {
  readonly file: File
  readonly uplink: Uplink
  readonly stop: AbortController
}

export class Files {
  readonly list: Signal<readonly Attached[]> = signal([])
  readonly #jobs = new Map<number, Job>()
  #keys = 0

  /** As many as a message may have; what is too large is not sent at all. How many were left out. */
  add(files: readonly File[], uplink: Uplink): number {
    const room = Math.max(0, MAX_ATTACHMENTS - this.list.peek().length)
    for (const file of files.slice(0, room)) {
      const key = ++this.#keys
      const isTooLarge = file.size > maxBytes(file)
      const isEmpty = file.size === 0
      const text = isEmpty ? "The file is empty." : `It may have ${Math.floor(maxBytes(file) / 2 ** 20)} MB at most.`
      this.#jobs.set(key, { file, uplink, stop: new AbortController() })
      this.#put({
        // As it will be called on the server.
        ...{ key, name: file.name.replace(UNSEEN, "") || "file", size: file.size },
        preview: file.type.startsWith("image/") ? URL.createObjectURL(file) : null,
        state: isTooLarge || isEmpty ? { at: "failed", text, isFinal: true } : { at: "waiting" },
      })
    }
    this.#next()
    return Math.max(0, files.length - room)
  }

  /** Takes it away, wherever it is. */
  remove(key: number): void {
    const entry = this.#find(key)
    this.#jobs.get(key)?.stop.abort()
    this.#jobs.delete(key)
    if (entry?.preview != null) URL.revokeObjectURL(entry.preview)
    this.list.value = this.list.peek().filter((one) => one.key !== key)
    this.#next()
  }

  retry(key: number): void {
    this.#set(key, { at: "waiting" })
    this.#next()
  }

  /** The machine is back: what found no server is tried again. */
  hurry(): void {
    for (const { key, state } of this.list.peek())
      if (state.at === "failed" && state.text === UNREACHED) this.retry(key)
  }

  /** All are up. */
  get isReady(): boolean {
    return this.list.value.every(({ state }) => state.at === "done")
  }

  /** They are said: the draft has none any more. */
  take(): readonly Asset[] {
    const assets = this.list.peek().flatMap(({ state }) => (state.at === "done" ? state.asset : []))
    for (const { key } of this.list.peek()) this.remove(key)
    return assets
  }

  /** Files of a message that came back. They are on the server already. */
  giveBack(assets: readonly Asset[]): void {
    for (const asset of assets) {
      const { label: name, size } = asset
      this.#put({ key: ++this.#keys, name, size, preview: null, state: { at: "done", asset } })
    }
  }

  #next(): void {
    const states = this.list.peek().map(({ state }) => state.at)
    if (states.filter((at) => at === "sending").length >= UNDER_WAY) return
    const next = this.list.peek().find(({ state }) => state.at === "waiting")
    if (next === undefined) return
    void this.#send(next.key)
    this.#next()
  }

  async #send(key: number): Promise<void> {
    const job = this.#jobs.get(key)
    if (job === undefined) return
    this.#set(key, { at: "sending", sent: 0 })
    try {
      const asset = await job.uplink(job.file, (sent) => this.#set(key, { at: "sending", sent }), job.stop.signal)
      this.#jobs.delete(key)
      this.#set(key, { at: "done", asset })
    } catch (error) {
      this.#set(key, refusalOf(error))
    }
    this.#next()
  }

  #find(key: number): Attached | undefined {
    return this.list.peek().find((entry) => entry.key === key)
  }

  #put(entry: Attached): void {
    this.list.value = [...this.list.peek(), entry]
  }

  /** One that was taken away meanwhile stays away. */
  #set(key: number, state: FileState): void {
    this.list.value = this.list.peek().map((entry) => (entry.key === key ? { ...entry, state } : entry))
  }
}

function refusalOf(error: unknown): FileState {
  if (!(error instanceof RequestError)) return { at: "failed", text: UNREACHED, isFinal: false }
  const isFinal = error.status < 500 && ![401, 408, 429].includes(error.status)
  return { at: "failed", text: error.message, isFinal }
}

/** One file to one session; a token that was refused is renewed once. */
export async function uploadTo(
  session: string,
  { api, upload }: { readonly api: Pick<Api, "token" | "forgetToken">; readonly upload: Upload },
  ...[file, onSent, signal]: Parameters<Uplink>
): Promise<Asset> {
  const path = `/v1/sessions/${encodeURIComponent(session)}/assets?name=${encodeURIComponent(file.name)}`
  const once = async () => upload(path, file, (await api.token()).token, onSent, signal)
  let answer = await once()
  if (answer.status === 401) {
    api.forgetToken()
    answer = await once()
  }
  const body = Object(parseJson(answer.text)) as Asset & { readonly text?: unknown }
  if (answer.status >= 200 && answer.status < 300) return assetOf(body)
  const words = typeof body.text === "string" ? body.text : `The server answered ${answer.status}.`
  throw new RequestError(answer.status, words)
}

function assetOf({ id, kind, mime_type, label, size, voice, width, height }: Asset): Asset {
  const extent = width === undefined || height === undefined ? {} : { width, height }
  return { id, kind, mime_type, label, size, ...(voice === true ? { voice } : {}), ...extent }
}
