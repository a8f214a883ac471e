/**
 * server-process.ts: finds the process of a server, so that a test can kill it or measure its memory.
 */

import { AsyncLocalStorage } from "node:async_hooks"
import type { ChildProcess } from "node:child_process"
import { subscribe } from "node:diagnostics_channel"

interface Watch {
  child: ChildProcess | null
}

const watches = new AsyncLocalStorage<Watch>()

subscribe("child_process", (message) => {
  const watch = watches.getStore()
  // Node publishes { process: ChildProcess }.
  if (watch !== undefined) watch.child = (message as { process: ChildProcess }).process
})

/**
 * Runs `start` and records the newest child process that it creates, now or later. Miniflare does not expose its
 * process, and comparing process lists would mix up servers that start at the same time.
 */
export function watchChild<T>(start: () => T): { readonly started: T; readonly child: () => ChildProcess | null } {
  const watch: Watch = { child: null }
  return { started: watches.run(watch, start), child: () => watch.child }
}
