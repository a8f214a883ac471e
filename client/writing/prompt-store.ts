/** prompt-store.ts: the user's saved prompts and the tenant's agents, loaded when they are first needed. */

import { type Signal, signal } from "@preact/signals"
import type { SavedPrompt } from "../../shared/protocol/writing/saved-prompt.ts"
import type { Api } from "../net/api.ts"
import { type ListedAgent, listAgents, listPrompts } from "./writing-api.ts"

/** How long a list is used before it is reloaded, in milliseconds. */
const FRESH_MS = 60_000

/** A list that is loaded on demand. `entries` is null until the list has been loaded once. */
class LoadedList<T> {
  readonly entries: Signal<readonly T[] | null> = signal(null)
  readonly #load: (api: Api) => Promise<readonly T[]>
  #loadedAt = Number.NEGATIVE_INFINITY

  constructor(load: (api: Api) => Promise<readonly T[]>) {
    this.#load = load
  }

  /** Loads the list unless it is fresh. After a failure, the old list is kept, and the next call tries again. */
  async ensure(api: Api): Promise<void> {
    if (Date.now() - this.#loadedAt < FRESH_MS) return
    this.#loadedAt = Date.now()
    await this.reload(api)
  }

  async reload(api: Api): Promise<void> {
    try {
      this.entries.value = await this.#load(api)
    } catch {
      this.#loadedAt = Number.NEGATIVE_INFINITY
    }
  }
}

export const savedPrompts = new LoadedList<SavedPrompt>(listPrompts)
export const listedAgents = new LoadedList<ListedAgent>(listAgents)
