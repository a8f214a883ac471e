/**
 * process-group.ts: runs a command in a process group and ends the whole group together with this process.
 *
 * If only wrangler or vite ends, workerd may keep running and hold the port. So signals go to the group, and a watcher
 * on the other end of a pipe ends the group even if this process is killed.
 */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process"
import process from "node:process"

/** Time between asking the group to end and killing it, in milliseconds. */
const GRACE_MS = 4_000

/** Interval at which the parent process (npm) is checked, in milliseconds. */
const PARENT_POLL_MS = 500

/** Turns off prompts, telemetry and downloads, both in a terminal and in CI. */
export const QUIET_ENV = {
  CI: "true",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  DO_NOT_TRACK: "1",
}

/** Signals a group. Returns false if the group has no process. Signal 0 only checks. */
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

/** Starts `node <args>` as a group. This process exits with the exit code of the command. */
export function runGroup(args: readonly string[], stdio: StdioOptions): ChildProcess {
  const child = spawn(process.execPath, args, { detached: true, stdio, env: { ...process.env, ...QUIET_ENV } })
  const { pid } = child
  if (pid === undefined) throw new Error(`could not start ${args[0] ?? "node"}`)
  spawnWatcher(pid)

  let ending = false
  const exitGroup = (code: number): void => {
    if (ending) return
    ending = true
    void endGroup(pid).then(() => process.exit(code))
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => exitGroup(0))
  child.on("exit", (code) => exitGroup(code ?? 1))
  const parent = process.ppid
  if (process.env["npm_lifecycle_event"] !== undefined) {
    setInterval(() => process.ppid !== parent && exitGroup(0), PARENT_POLL_MS).unref()
  }
  return child
}
