/**
 * process-group.ts: runs a command in a process group of its own and ends the whole group with us.
 *
 * Ending wrangler or vite alone can leave workerd behind, holding the port. So a signal goes to the group,
 * and a watcher that holds a pipe to us ends the group even when we are killed without a word.
 */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process"
import process from "node:process"

/** How long the group may take over a clean end before it is killed. */
const GRACE_MS = 4_000

/** How often we look whether the npm that started us still lives. */
const PARENT_POLL_MS = 500

/** Nothing here asks, reports or calls home: the same in a terminal and in CI. */
export const QUIET_ENV = {
  CI: "true",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  DO_NOT_TRACK: "1",
}

/** Signals 0 and up to a group; false when nobody is left in it. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

function spawnWatcher(pid: number): void {
  const script = `cat >/dev/null; kill -TERM -${pid} 2>/dev/null && sleep 2 && kill -KILL -${pid} 2>/dev/null`
  const watcher = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["pipe", "ignore", "ignore"] })
  watcher.on("error", () => {})
  watcher.unref()
}

async function endGroup(pid: number): Promise<void> {
  signalGroup(pid, "SIGTERM")
  for (let waited = 0; waited < GRACE_MS && signalGroup(pid, 0); waited += 50) {
    await new Promise((done) => setTimeout(done, 50))
  }
  signalGroup(pid, "SIGKILL")
}

/** Starts `node <args>` as a group. Our own exit code becomes the command's. */
export function runGroup(args: readonly string[], stdio: StdioOptions): ChildProcess {
  const child = spawn(process.execPath, args, { detached: true, stdio, env: { ...process.env, ...QUIET_ENV } })
  const { pid } = child
  if (pid === undefined) throw new Error(`could not start ${args[0] ?? "node"}`)
  spawnWatcher(pid)

  let ending = false
  const end = (code: number): void => {
    if (ending) return
    ending = true
    void endGroup(pid).then(() => process.exit(code))
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => end(0))
  child.on("exit", (code) => end(code ?? 1))
  const parent = process.ppid
  if (process.env["npm_lifecycle_event"] !== undefined) {
    setInterval(() => process.ppid !== parent && end(0), PARENT_POLL_MS).unref()
  }
  return child
}
