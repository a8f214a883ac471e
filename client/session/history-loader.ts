/**
 * history-loader.ts: loads the code for older and newer history when the user first needs it.
 *
 * scrolling, a link to a message → LOADER → shown history → api → store
 */

import { type Signal, signal } from "@preact/signals"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { HistoryDeps } from "./history-deps.ts"
import type { ShownHistory } from "./shown-history.ts"

export class HistoryLoader {
  readonly isLoading: Signal<boolean> = signal(false)
  readonly #deps: HistoryDeps
  #shown: ShownHistory | null = null

  constructor(deps: HistoryDeps) {
    this.#deps = deps
  }

  get hasNewer(): boolean {
    return this.#deps.store.hasNewer.peek()
  }

  /** Loads the next older messages, if there are any. After a failure, the next scroll tries again. */
  async loadOlder(): Promise<void> {
    if (this.#deps.store.hasOlder.peek()) await (await this.#open())?.loadOlder()
  }

  /** Loads the next newer messages, if the newest ones aren't shown. */
  async loadNewer(): Promise<void> {
    if (this.hasNewer) await (await this.#open())?.loadNewer()
  }

  /** Shows a message and those around it. Resolves with false if the message can't be found or loaded. */
  async showMessage(id: string): Promise<boolean> {
    const { store } = this.#deps
    return store.messageIds.peek().includes(id) || (await (await this.#open())?.showMessage(id)) === true
  }

  /** Shows the newest messages if older ones are shown. */
  showNewest(): void {
    this.#shown?.showNewest()
  }

  /**
   * Drops messages that are far from the message being read (null: from the newest message). Called when a message has
   * arrived.
   */
  async dropFar(findReadingId: () => string | null): Promise<void> {
    const { store, maxMessages } = this.#deps
    if (maxMessages !== undefined && store.size > maxMessages) (await this.#open())?.dropFar(findReadingId)
  }

  /**
   * Replaces the loaded messages with the newest page and, if that page doesn't contain the message being read, with
   * that message's page.
   */
  async replaceAll(newest: HistoryPage, readingId: string | undefined): Promise<void> {
    const shown = readingId === undefined ? null : await this.#open()
    const place = (await shown?.readPlace(newest, readingId ?? "")) ?? null
    if (this.#deps.isClosed()) return
    if (shown === null || place === null) this.#deps.store.loadPage(newest)
    else shown.replaceAll(newest, place)
  }

  /** Loads the code for shown history. Resolves with null if it can't be loaded. */
  async #open(): Promise<ShownHistory | null> {
    try {
      const code = await import("./shown-history.ts")
      this.#shown ??= new code.ShownHistory(this.#deps, this.isLoading)
    } catch {
      // The next call tries again.
    }
    return this.#shown
  }
}
