/** deferred-module.ts: code that isn't needed for the initial render, and is loaded after it or on demand. */

import { type ReadonlySignal, signal } from "@preact/signals"

export interface DeferredModule<T> {
  /** Null until the code is loaded. */
  readonly module: ReadonlySignal<T | null>
  /** Loads the code. Returns false if that fails. The next call tries again, and a timer also retries a few times. */
  load(): Promise<boolean>
}

/** Delay before the first retry, in milliseconds. Each further delay is twice as long. */
const RETRY_MS = 1_000
const MAX_RETRIES = 2

/**
 * The number of modules that couldn't be loaded after all retries. Chromium never loads such a module again in the same
 * document, so the user has to reload the page.
 */
export const missingModules = signal(0)

/* @__NO_SIDE_EFFECTS__ */
export function deferModule<T>(importModule: () => Promise<T>): DeferredModule<T> {
  const module = signal<T | null>(null)
  let failures = 0
  let running: Promise<boolean> | null = null
  const tryImport = async (): Promise<boolean> => {
    try {
      module.value ??= await importModule()
      if (failures > MAX_RETRIES) missingModules.value--
      failures = 0
      return true
    } catch {
      if (failures < MAX_RETRIES) setTimeout(load, RETRY_MS << failures)
      if (failures++ === MAX_RETRIES) missingModules.value++
      return false
    }
  }
  // Parts that need the same code call this at the same time. Their shared attempt counts once.
  const load = (): Promise<boolean> =>
    (running ??= tryImport().finally(() => {
      running = null
    }))
  return { module, load }
}
