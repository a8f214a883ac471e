/** deferred-module.ts: code that isn't needed for the initial render, and is loaded after it or on demand. */

import { type ReadonlySignal, signal } from "@preact/signals"

export interface DeferredModule<T> {
  /** Null until the code is loaded. */
  readonly module: ReadonlySignal<T | null>
  /** Loads the code. Returns false if that fails; the next call tries again. */
  load(): Promise<boolean>
}

/* @__NO_SIDE_EFFECTS__ */
export function deferModule<T>(importModule: () => Promise<T>): DeferredModule<T> {
  const module = signal<T | null>(null)
  return {
    module,
    async load() {
      try {
        module.value ??= await importModule()
        return true
      } catch {
        return false
      }
    },
  }
}
