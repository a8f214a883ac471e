/**
 * copy-loader.ts: loads the pages of a shared copy into a transcript store, and requests signed links for its files.
 */

import { type Signal, signal } from "@preact/signals"
import type { SharedCopyPage, SignResponse } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isMessageShape } from "../../shared/protocol/server-frame.ts"
import { parseSignResponse } from "../../shared/protocol/responses.ts"
import { createParser, isListOf, isNumber, isString } from "../../shared/protocol/shape-check.ts"
import { createJsonRequest, parseBody, RequestError } from "../net/http-request.ts"
import { TranscriptStore } from "../session/transcript-store.ts"

const isNumberOrNull = (value: unknown): boolean => value === null || isNumber(value)
const isStringOrNull = (value: unknown): boolean => value === null || isString(value)

const parsePage = createParser<SharedCopyPage>({
  title: isString,
  created: isNumber,
  author: isStringOrNull,
  messages: isListOf(isMessageShape),
  next: isNumberOrNull,
})

/** `gone`: the copy doesn't exist or can no longer be read. `failed`: another attempt may succeed. */
export type CopyState = "loading" | "shown" | "gone" | "failed"

export class CopyLoader {
  readonly state: Signal<CopyState> = signal("loading")
  /** What is known about the copy; null until its first page has been loaded. */
  readonly head: Signal<Pick<SharedCopyPage, "title" | "created" | "author"> | null> = signal(null)
  readonly hasMore = signal(false)
  readonly isLoading = signal(false)
  readonly store = new TranscriptStore({ scheduleRender: (callback) => callback(), onMessageEnd() {} })
  readonly #path: string
  readonly #fetch: (url: string, init?: RequestInit) => Promise<Response>
  #messages: readonly WireMessage[] = []
  #next: number | null = 1

  /** `reference`: the last part of the page's URL. */
  constructor(reference: string, fetchPage: (url: string, init?: RequestInit) => Promise<Response>) {
    this.#path = `/v1/shares/${encodeURIComponent(reference)}`
    this.#fetch = fetchPage
  }

  /** Loads the next page. Never rejects. */
  async loadNext(): Promise<void> {
    if (this.isLoading.peek() || this.#next === null) return
    this.isLoading.value = true
    try {
      const page = await parseBody(await this.#fetch(`${this.#path}?page=${this.#next}`), parsePage)
      this.#next = page.next
      this.#messages = [...this.#messages, ...page.messages]
      this.store.loadPage({ messages: this.#messages, has_more: false, epoch: "", seq: 0 })
      this.head.value = page
      this.hasMore.value = page.next !== null
      this.state.value = "shown"
    } catch (error) {
      const isGone = error instanceof RequestError && error.status === 404
      this.state.value = isGone ? "gone" : "failed"
    } finally {
      this.isLoading.value = false
    }
  }

  readonly signUrls = async (urls: readonly string[]): Promise<SignResponse> => {
    const response = await this.#fetch(`${this.#path}/media/sign`, createJsonRequest("POST", { urls }))
    return await parseBody(response, parseSignResponse)
  }
}
