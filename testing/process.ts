/**
 * process.ts: finds the workerd that a server of ours runs in, so that a test can kill it or weigh it (Linux).
 */

import { readdirSync, readFileSync } from "node:fs"

/** Process ids of the workerd processes that are descendants of `pid`. Empty where there is no /proc. */
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
