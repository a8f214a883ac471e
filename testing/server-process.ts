/**
 * server-process.ts: which process a server of ours runs in, so that a test can kill it or weigh it.
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
  // Node's own message: { process: ChildProcess }.
  if (watch !== undefined) watch.child = (message as { process: ChildProcess }).process
})

/**
 * Runs `start` and follows the newest process that it starts, then or later. Miniflare does not tell, and comparing
 * lists of processes mistakes one server for another when two start at once.
 */
export function watchChild<T>(start: () => T): { readonly started: T; readonly child: () => ChildProcess | null } {
  const watch: Watch = { child: null }
  return { started: watches.run(watch, start), child: () => watch.child }
}
