/**
 * shown-history.ts: moves the shown part of a session's history to older or newer messages, or to a given message.
 *
 * scrolling, a link to a message → SHOWN HISTORY → api → store
 * The shown messages are contiguous. If there are more than `maxMessages`, those at the far end are dropped. The newest
 * messages are kept in memory, so that they can be shown at once. This code is loaded on demand. Source: SPEC LT1–LT6,
 * PG16, PG43, SO12.
 */

import { batch, type Signal } from "@preact/signals"
import { MAX_PAGE_MESSAGES } from "../../shared/limits.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { parseHistoryPage } from "../../shared/protocol/responses.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { sessionPath } from "../net/api.ts"
import { parseBody, RequestError } from "../net/http-request.ts"
import { type HistoryDeps, PAGE_MESSAGES } from "./history-deps.ts"
import { TURN_WINDOW_MESSAGES } from "./transcript-store.ts"

/** Number of messages per page while the user scrolls fast. */
const FAST_PAGE_MESSAGES = 100
/** The user scrolls fast if the next page is needed within this time after the last one was shown, in milliseconds. */
const FAST_SCROLL_MS = 1_000
/** Number of messages added per animation frame. Adding more would block the page while they are rendered. */
const SLICE_MESSAGES = 12
/** Number of messages that are loaded around a message in the middle of the history. */
const AROUND_MESSAGES = 60
/** How far before the message being read the page looks for a message that still exists, in messages. SPEC SO12. */
const PLACE_DISTANCES = [0, 1, 2, 8, 32]

/**
 * What is known about the messages before the shown ones. If the cursor is undefined, the oldest shown message takes
 * its place.
 */
interface OlderMessages {
  readonly cursor: string | undefined
  readonly hasOlder: boolean
}

const UNKNOWN_OLDER: OlderMessages = { cursor: undefined, hasOlder: true }

export class ShownHistory {
  readonly #deps: HistoryDeps
  readonly #isLoading: Signal<boolean>
  #pendingLoad: Promise<void> | null = null
  #lastLoadAt = Number.NEGATIVE_INFINITY
  /** The `after` parameter for the page that follows the message `id`. */
  #next: { readonly id: string | undefined; readonly after: string } | null = null

  constructor(deps: HistoryDeps, isLoading: Signal<boolean>) {
    this.#deps = deps
    this.#isLoading = isLoading
  }

  loadOlder(): Promise<void> {
    return this.#loadOnce(() => this.#loadOlder())
  }

  loadNewer(): Promise<void> {
    return this.#loadOnce(() => this.#loadNewer())
  }

  /**
   * Shows a message and those around it. Resolves with false if the message isn't on the active path or can't be
   * loaded.
   */
  async showMessage(id: string): Promise<boolean> {
    const { store } = this.#deps
    if (store.has(id)) this.showNewest()
    else {
      const page = await this.#readAround(id, AROUND_MESSAGES).catch(() => null)
      if (page !== null && this.#isCurrent(page)) this.#showPage(page)
    }
    return store.shownIds.includes(id)
  }

  showNewest(): void {
    const { store } = this.#deps
    if (store.hasNewer.peek()) this.#show(store.newestIds, [], "end", UNKNOWN_OLDER, true)
  }

  dropFar(findReadingId: () => string | null): void {
    const { store, maxMessages = Number.POSITIVE_INFINITY } = this.#deps
    if (store.size <= maxMessages) return
    const isComplete = !store.hasNewer.peek()
    const run = store.shownIds
    const at = isComplete ? run.indexOf(findReadingId() ?? "") : 0
    const older = { cursor: store.cursor, hasOlder: store.hasOlder.peek() }
    const half = Math.floor(maxMessages / 2)
    if (at >= 0 && at < half) return this.#show(run, [], "start", older, isComplete)
    const end = at < 0 ? run.length : at + half
    this.#show(run.slice(0, end), [], "end", older, end >= run.length)
  }

  /**
   * Returns the page that contains the message being read or, if that message is gone, an earlier one; null if the
   * newest page contains one of these messages or none can be found.
   */
  async readPlace(newest: HistoryPage, readingId: string): Promise<HistoryPage | null> {
    // After a switch of versions, the message may be gone. Messages before the fork are the same in both versions.
    const ids = this.#deps.store.shownIds
    const anchorIds = [readingId, ...ids.slice(0, Math.max(0, ids.indexOf(readingId))).reverse()]
    const hasAnchor = ({ messages }: HistoryPage): boolean => messages.some(({ id }) => anchorIds.includes(id))
    if (newest.cursor === undefined || hasAnchor(newest)) return null
    const { api, session } = this.#deps
    const older = await api.getHistoryPage(session, MAX_PAGE_MESSAGES, newest.cursor)
    // A different epoch means that the version has changed again. The server's hello will report that change.
    if (older.epoch !== newest.epoch) return null
    if (hasAnchor(older)) return { ...older, messages: [...older.messages, ...newest.messages] }
    for (const distance of PLACE_DISTANCES) {
      const id = anchorIds[distance]
      if (id === undefined) break
      try {
        const page = await this.#readAround(id, MAX_PAGE_MESSAGES)
        return page.epoch === newest.epoch ? page : null
      } catch (error) {
        if (!(error instanceof RequestError && error.status === 404)) throw error
      }
    }
    return null
  }

  replaceAll(newest: HistoryPage, place: HistoryPage): void {
    batch(() => {
      this.#deps.store.loadPage(newest)
      this.#showPage(place)
    })
  }

  /** Runs `load`. Concurrent calls share one request. After a failure, the next scroll tries again. */
  #loadOnce(load: () => Promise<void>): Promise<void> {
    this.#isLoading.value = true
    this.#pendingLoad ??= load()
      .catch(() => {})
      .finally(() => {
        this.#pendingLoad = null
        this.#isLoading.value = false
        this.#lastLoadAt = this.#deps.now()
      })
    return this.#pendingLoad
  }

  async #loadOlder(): Promise<void> {
    const { store, api, session } = this.#deps
    const { cursor } = store
    const [firstId = ""] = store.shownIds
    if (!store.hasOlder.peek()) return
    const count = this.#countPageMessages()
    const page = await (cursor === undefined
      ? this.#readAround(firstId, 2 * count)
      : api.getHistoryPage(session, count, cursor))
    if (!this.#isCurrent(page) || store.shownIds[0] !== firstId || store.cursor !== cursor) return
    const at = page.messages.findIndex(({ id }) => id === firstId)
    const older = page.messages.slice(0, at < 0 ? page.messages.length : at).filter(({ id }) => !store.has(id))
    await this.#prepend(older, readOlder(page))
    // A page around a long message may contain nothing else.
    if (older.length === 0 && cursor === undefined) await this.#loadOlder()
  }

  async #prepend(messages: readonly WireMessage[], older: OlderMessages): Promise<void> {
    const { store, isClosed, maxMessages } = this.#deps
    const sliceMessages = maxMessages === undefined ? messages.length : SLICE_MESSAGES
    for (let end = messages.length; ; end -= sliceMessages) {
      const start = Math.max(0, end - sliceMessages)
      const added = messages.slice(start, end)
      const run = [...listIds(added), ...store.shownIds]
      this.#show(run, added, "start", start === 0 ? older : UNKNOWN_OLDER, !store.hasNewer.peek())
      if (start === 0) return
      await this.#waitForFrame()
      // Something else was shown meanwhile.
      if (isClosed() || store.shownIds[0] !== run[0]) return
    }
  }

  async #loadNewer(): Promise<void> {
    const { store } = this.#deps
    if (!store.hasNewer.peek()) return
    const lastId = store.shownIds.at(-1) ?? ""
    if (store.newestIds.includes(lastId)) return this.#append(lastId, [], true)
    const isAfter = this.#next?.id === lastId
    const page = await this.#readNewer(lastId)
    if (!this.#isCurrent(page) || !store.hasNewer.peek() || store.shownIds.at(-1) !== lastId) return
    const messages = page.messages.slice(page.messages.findIndex(({ id }) => id === lastId) + 1)
    const joinAt = messages.findIndex(({ id }) => store.newestIds.includes(id))
    const added = joinAt < 0 ? messages : messages.slice(0, joinAt)
    if (page.next !== undefined) this.#next = { id: messages.at(-1)?.id ?? lastId, after: page.next }
    await this.#append(lastId, added, joinAt >= 0 || page.next === undefined)
    // A page around a long message may contain nothing else.
    if (messages.length === 0 && !isAfter) await this.#loadNewer()
  }

  /**
   * Adds messages after `lastId`. `isJoined`: whether the newest messages, which are loaded, follow the added messages.
   */
  async #append(lastId: string, messages: readonly WireMessage[], isJoined: boolean): Promise<void> {
    const { store, isClosed } = this.#deps
    const byId = new Map(messages.map((message) => [message.id, message]))
    const following = isJoined ? store.newestIds.slice(store.newestIds.indexOf(lastId) + 1) : []
    const ids = [...byId.keys(), ...following]
    for (let start = 0; ; start += SLICE_MESSAGES) {
      const part = ids.slice(start, start + SLICE_MESSAGES)
      const isLast = start + SLICE_MESSAGES >= ids.length
      const run = [...store.shownIds, ...part]
      // Adds the messages that have arrived in the meantime.
      if (isLast && isJoined) run.push(...store.newestIds.slice(store.newestIds.indexOf(run.at(-1) ?? "") + 1))
      const older = { cursor: store.cursor, hasOlder: store.hasOlder.peek() }
      const added = part.flatMap((id) => byId.get(id) ?? [])
      this.#show(run, added, "end", older, isLast && isJoined)
      if (isLast) return
      await this.#waitForFrame()
      if (isClosed() || !store.hasNewer.peek() || store.shownIds.at(-1) !== run.at(-1)) return
    }
  }

  #showPage(page: HistoryPage): void {
    const { store } = this.#deps
    const newest = store.newestIds
    const ids = listIds(page.messages)
    const joinAt = ids.findIndex((id) => newest.includes(id))
    const isComplete = joinAt >= 0 || page.next === undefined
    const before = joinAt < 0 ? ids : ids.slice(0, joinAt)
    const after = isComplete ? newest.slice(Math.max(0, newest.indexOf(ids[joinAt] ?? ""))) : []
    if (page.next !== undefined) this.#next = { id: ids.at(-1), after: page.next }
    const added = page.messages.filter(({ id }) => !store.has(id))
    this.#show([...before, ...after], added, "start", readOlder(page), isComplete)
  }

  /**
   * Shows a run of messages. If the run is too long, only one end of it is kept. `older`: what is known about the
   * messages before the run. `isComplete`: whether the run ends with the newest message.
   */
  #show(
    run: readonly string[],
    added: readonly WireMessage[],
    kept: "start" | "end",
    older: OlderMessages,
    isComplete: boolean,
  ): void {
    const { store, maxMessages = Number.POSITIVE_INFINITY } = this.#deps
    const shown = kept === "start" ? run.slice(0, maxMessages) : run.slice(-maxMessages)
    const isCut = shown.length < run.length
    const isAtNewest = isComplete && !(isCut && kept === "start")
    store.arrange({
      added,
      shown,
      newest: isAtNewest ? null : store.newestIds.slice(-TURN_WINDOW_MESSAGES),
      ...(isCut && kept === "end" ? UNKNOWN_OLDER : older),
    })
  }

  #readNewer(lastId: string): Promise<HistoryPage> {
    const count = this.#countPageMessages()
    if (this.#next?.id !== lastId) return this.#readAround(lastId, 2 * count)
    return this.#readPage(`after=${this.#next.after}&limit=${count}`)
  }

  /** Reads the messages around the given one. Up to half of them are newer. */
  #readAround(id: string, count: number): Promise<HistoryPage> {
    return this.#readPage(`around=${encodeURIComponent(id)}&limit=${Math.min(count, MAX_PAGE_MESSAGES)}`)
  }

  async #readPage(query: string): Promise<HistoryPage> {
    const { api, session } = this.#deps
    return await parseBody(await api.fetchAuthorized(sessionPath(session, `/conversation?${query}`)), parseHistoryPage)
  }

  #countPageMessages(): number {
    return this.#deps.now() - this.#lastLoadAt < FAST_SCROLL_MS ? FAST_PAGE_MESSAGES : PAGE_MESSAGES
  }

  #isCurrent({ epoch }: HistoryPage): boolean {
    return !this.#deps.isClosed() && epoch === this.#deps.store.epoch
  }

  #waitForFrame(): Promise<void> {
    return new Promise((resolve) => this.#deps.scheduleRender(resolve))
  }
}

function readOlder({ cursor, has_more }: HistoryPage): OlderMessages {
  return { cursor, hasOlder: has_more && cursor !== undefined }
}

function listIds(messages: readonly WireMessage[]): readonly string[] {
  return messages.map(({ id }) => id)
}
