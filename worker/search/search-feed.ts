/** search-feed.ts: finds the text of a session that the user's directory has not received yet. */

import type { SearchUpdate } from "../platform/rpc/search-types.ts"
import { type PathReader, readFinishedTip } from "./finished-tip.ts"

/** The part of a live session that its feed uses. */
interface FedSession {
  readonly row: { readonly id: string; readonly family: { readonly session: string }; readonly erasesAt: number | null }
  readonly store: PathReader
  readonly host: { readonly armAlarm: () => void }
}

/**
 * Decides which text the directory has not yet received. Its state is only in memory, so a new process sends the newest
 * turn, and the directory fetches what is missing before that turn.
 */
export class SearchFeed {
  readonly #session: FedSession
  /**
   * Position of the newest message whose text was sent, or that was stored before this process began; null if unknown.
   */
  #sentTip: number | null = null
  /** The position below which the active path has changed; null if it has not changed. */
  #fork: { readonly pos: number } | null = null
  /** The change that is being sent. */
  #sentFork: { readonly pos: number } | null = null

  constructor(session: FedSession) {
    this.#session = session
  }

  /** Called after the user has sent a message and before the turn ends. */
  noteQuestion(): void {
    this.#sentTip ??= this.#readTip()
  }

  notePathChange(fork: number): void {
    if (!this.#isSearchable()) return
    // If this process is killed first, the alarm sends the change.
    this.#session.host.armAlarm()
    this.#fork = { pos: Math.min(this.#fork?.pos ?? fork, fork) }
  }

  isPathChanged(): boolean {
    return this.#fork !== null
  }

  /**
   * Returns the text to send with a running state; null if there is none. While a turn is running, only a changed path
   * is sent.
   */
  async readNext(isRunning: boolean): Promise<SearchUpdate | null> {
    const fork = this.#fork
    if (!this.#isSearchable() || (isRunning && fork === null)) return null
    if (fork === null && this.#sentTip === this.#readTip()) return null
    const { readTurnTexts } = await import("./turn-texts.ts")
    this.#sentFork = fork
    const after = this.#sentTip
    const { store } = this.#session
    return readTurnTexts(store, fork !== null ? { fork: fork.pos } : after === null ? "newest" : { after })
  }

  acknowledge({ tip }: SearchUpdate): void {
    this.#sentTip = tip
    // The path may have changed again in the meantime.
    if (this.#fork === this.#sentFork) this.#fork = null
  }

  /**
   * Whether the session is indexed. Agents' sessions and temporary sessions are not in any list, so they are not
   * searched.
   */
  #isSearchable(): boolean {
    const { id, family, erasesAt } = this.#session.row
    return id === family.session && erasesAt === null
  }

  #readTip(): number {
    return this.#isSearchable() ? readFinishedTip(this.#session.store) : 0
  }
}
