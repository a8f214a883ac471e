/**
 * process.ts: which process a server of ours runs in, so that a test can kill it or weigh it.
 */

import { AsyncLocalStorage } from "node:async_hooks"
import type { ChildProcess } from "node:child_process"
import { subscribe } from "node:diagnostics_channel"
import { readdirSync, readFileSync } from "node:fs"

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

/** Process ids of the workerd processes that are descendants of `pid` (Linux). Empty where there is no /proc. */
export function workerdBelow(pid: number): number[] {
  const parents = new Map<number, number>()
  const found: number[] = []
  for (const [id, name, parent] of processes()) {
    parents.set(id, parent)
    if (name.startsWith("workerd")) found.push(id)
  }
  const isBelow = (id: number): boolean => {
    for (let at = parents.get(id); at !== undefined && at > 1; at = parents.get(at)) if (at === pid) return true
    return false
  }
  return found.filter(isBelow)
}

function* processes(): Generator<readonly [id: number, name: string, parent: number]> {
  for (const entry of listProc()) {
    const id = Number(entry)
    if (!Number.isInteger(id)) continue
    try {
      const stat = readFileSync(`/proc/${id}/stat`, "utf8")
      const close = stat.lastIndexOf(")")
      yield [id, stat.slice(stat.indexOf("(") + 1, close), Number(stat.slice(close + 2).split(" ")[1])]
    } catch {
      // It ended while we looked.
    }
  }
}

function listProc(): string[] {
  try {
    return readdirSync("/proc")
  } catch {
    return []
  }
}
