/**
 * pipe.test.ts: tests scripts/pipe/pipe.ts with a real server: a program's output is shown live and only once, even
 * after failures.
 */

import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterEach, describe, expect, onTestFailed, test } from "vitest"
import { type Cuecard, startCuecard } from "cuecard/testing"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"

/** Polling options with a timeout that is longer than that of an unanswered request (scripts/pipe/record-sender.ts). */
const POLL = { timeout: 45_000, interval: 100 }
const RECORDED = resolve("test/shared/ingest")

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

async function startServer(options: Parameters<typeof startCuecard>[0] = {}): Promise<Cuecard> {
  const cuecard = await startCuecard(options)
  cleanups.push(() => cuecard.close())
  return cuecard
}

interface Piping {
  readonly child: ChildProcess
  readonly output: () => string
  readonly exit: Promise<number | null>
}

/** Runs the pipe with these options. */
function startPipe(cuecard: Cuecard, session: string, ...args: string[]): Piping {
  const child = spawn(process.execPath, ["scripts/pipe/pipe.ts", "--session", session, "--url", cuecard.url, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  })
  let output = ""
  child.stderr?.on("data", (chunk) => {
    output += String(chunk)
  })
  onTestFailed(() => console.error(`pipe ${args.join(" ")}: exit ${child.exitCode}\n${output}`))
  cleanups.push(async () => child.kill("SIGKILL"))
  return { child, output: () => output, exit: new Promise((done) => child.on("exit", (code) => done(code))) }
}

/**
 * Returns the command that prints a recorded stream slowly. `ms` is a number of milliseconds, `stall` or a path (see
 * slowly.ts).
 */
function createSlowArgs(name: string, ms: number | string, exit = 0): string[] {
  return ["--", process.execPath, "test/support/slowly.ts", join(RECORDED, `${name}.jsonl`), String(ms), String(exit)]
}

async function messagesOf(cuecard: Cuecard, session: string): Promise<WireMessage[]> {
  const path = `${cuecard.url}/v1/sessions/${session}/conversation/recent?limit=20`
  const response = await fetch(path, { headers: { authorization: `Bearer ${cuecard.token}` } })
  return ((await response.json()) as { messages: WireMessage[] }).messages
}

/** Returns the number of segments in the newest answer, or 0 if the request fails. */
async function shownIn(cuecard: Cuecard, session: string): Promise<number> {
  return (await messagesOf(cuecard, session).catch(() => [])).at(-1)?.segments.length ?? 0
}

function kindsIn(message: WireMessage | undefined): string[] {
  return (message?.segments ?? []).map((segment) => segment.type)
}

const WHOLE = ["thinking", "text", "tool", "text", "tool", "tool", "text"]

describe("a program", () => {
  test("[PI4] [PI10] is shown live, and its answer ends as the program did; --format sets the format, and the owner issues the token", async () => {
    const cuecard = await startServer()
    const { id } = await cuecard.createSession()
    const folder = await mkdtemp(join(tmpdir(), "cuecard-pipe-"))
    cleanups.push(() => rm(folder, { recursive: true, force: true }))
    const goOn = join(folder, "go-on")
    const piping = startPipe(
      cuecard,
      id,
      "--token",
      cuecard.token,
      "--format",
      "claude",
      ...createSlowArgs("claude-tools", goOn),
    )
    await expect.poll(() => shownIn(cuecard, id), POLL).toBeGreaterThan(1)
    expect((await messagesOf(cuecard, id))[0]).toMatchObject({ status: "running", mode: "external" })
    await writeFile(goOn, "")
    expect(await piping.exit).toBe(0)
    const [message] = await messagesOf(cuecard, id)
    expect(message?.status).toBe("completed")
    expect(kindsIn(message)).toEqual(WHOLE)
    expect(piping.output()).toContain("the answer is completed")
    expect(piping.output()).toContain("rate_limit_event ×1")
  })

  test("[PI9] continues after the server was killed and restarted; each record takes effect at most once", async () => {
    const persist = await mkdtemp(join(tmpdir(), "cuecard-pipe-"))
    cleanups.push(() => rm(persist, { recursive: true, force: true }))
    const first = await startServer({ persist })
    const { id } = await first.createSession()
    const piping = startPipe(first, id, "--format", "claude", ...createSlowArgs("claude-tools", 400))
    await expect.poll(() => shownIn(first, id), POLL).toBeGreaterThan(2)
    await first.kill()
    const second = await startServer({ persist, port: Number(new URL(first.url).port) })
    expect(await piping.exit, piping.output()).toBe(0)
    const messages = await messagesOf(second, id)
    expect(messages).toHaveLength(1)
    expect(messages[0]?.status).toBe("completed")
    expect(kindsIn(messages[0])).toEqual(WHOLE)
    expect(messages[0]?.content).toBe(
      "Let me run the tests.\n\nOne fails. I read it, and ask another to look.\n\nThe sign is wrong in `add.js`.",
    )
  })

  test("[PI11] that fails, or can't be started, is reported", async () => {
    const cuecard = await startServer()
    const { id } = await cuecard.createSession()
    const bad = startPipe(cuecard, id, "--format", "codex", ...createSlowArgs("codex-cut", 10, 3))
    expect(await bad.exit).toBe(3)
    expect((await messagesOf(cuecard, id)).at(-1)).toMatchObject({ status: "failed", reason: "producer_failed" })
    const none = startPipe(cuecard, id, "--", "./claude", "-p", "x")
    expect(await none.exit).toBe(127)
    expect(none.output()).toContain("./claude")
    expect(await messagesOf(cuecard, id)).toHaveLength(1)
  })

  test("[PI5] is stopped when a user stops its answer", async () => {
    const cuecard = await startServer()
    const { id } = await cuecard.createSession()
    const piping = startPipe(cuecard, id, "--format", "claude", ...createSlowArgs("claude-tools", "stall"))
    await expect.poll(() => shownIn(cuecard, id), POLL).toBeGreaterThan(0)
    const headers = { authorization: `Bearer ${cuecard.token}` }
    const stopped = await fetch(`${cuecard.url}/v1/sessions/${id}/cancel`, { method: "POST", headers })
    expect(stopped.status).toBe(200)
    // The program would never end by itself.
    expect(await piping.exit).not.toBe(0)
    expect(piping.output()).toContain("the answer is cancelled")
    expect((await messagesOf(cuecard, id))[0]?.status).toBe("cancelled")
  })

  test("[PI5] Ctrl-C cancels the answer; if the pipe is killed, the answer is soon interrupted", async () => {
    const cuecard = await startServer({ vars: { TIME_SCALE: "0.04" } })
    const { id } = await cuecard.createSession()
    const piping = startPipe(cuecard, id, "--format", "claude", ...createSlowArgs("claude-tools", 300))
    await expect.poll(() => shownIn(cuecard, id), POLL).toBeGreaterThan(0)
    piping.child.kill("SIGINT")
    expect(await piping.exit).toBe(130)
    expect((await messagesOf(cuecard, id))[0]?.status).toBe("cancelled")
    const second = startPipe(cuecard, id, "--format", "claude", ...createSlowArgs("claude-tools", 300))
    await expect.poll(async () => (await messagesOf(cuecard, id)).length, POLL).toBe(2)
    second.child.kill("SIGKILL")
    await expect.poll(async () => (await messagesOf(cuecard, id))[1]?.status, POLL).toBe("interrupted")
    expect((await messagesOf(cuecard, id))[1]?.reason).toBe("producer_gone")
  })
})

describe("a recorded stream", () => {
  test("[PI6] is read from standard input; the pipe waits while another answer is running", async () => {
    const cuecard = await startServer({ script: [[{ type: "text_delta", delta: "Mine." }, { type: "finish" }]] })
    const { id } = await cuecard.createSession()
    const busy = startPipe(cuecard, id, "--format", "pi", ...createSlowArgs("pi-tools", 60))
    await expect.poll(() => shownIn(cuecard, id), POLL).toBeGreaterThan(0)
    const piping = startPipe(cuecard, id, "--stdin", "--format", "codex")
    piping.child.stdin?.end(readFileSync(join(RECORDED, "codex-tools.jsonl")))
    expect(await busy.exit).toBe(0)
    expect(await piping.exit, piping.output()).toBe(0)
    const messages = await messagesOf(cuecard, id)
    expect(messages.map(({ status }) => status)).toEqual(["completed", "completed"])
    expect(kindsIn(messages[1])).toEqual([
      "thinking",
      "tool",
      "tool",
      "text",
      "tool",
      "tool",
      "tool",
      "tool",
      "tool",
      // The item of an unknown type comes first, and then the answer.
      "text",
      "text",
    ])
    expect(piping.output()).toContain("item hologram ×1")
  })

  test("[PI12] can be sent to a session whose id begins with a hyphen", async () => {
    const cuecard = await startServer()
    const id = "-FqW0vT9_hyphen-first"
    const headers = { authorization: `Bearer ${cuecard.token}`, "content-type": "application/json" }
    const body = JSON.stringify({ id, title: "" })
    expect((await fetch(`${cuecard.url}/v1/sessions`, { method: "POST", headers, body })).ok).toBe(true)
    const piping = startPipe(cuecard, id, "--stdin", "--format", "codex")
    piping.child.stdin?.end(readFileSync(join(RECORDED, "codex-tools.jsonl")))
    expect(await piping.exit, piping.output()).toBe(0)
    expect((await messagesOf(cuecard, id)).map(({ status }) => status)).toEqual(["completed"])
  })

  test("[PI6] without a session or a format makes the pipe print its usage", async () => {
    const cuecard = await startServer()
    const none = spawn(process.execPath, ["scripts/pipe/pipe.ts", "--stdin"], { stdio: "ignore" })
    expect(await new Promise((done) => none.on("exit", done))).toBe(1)
    const { id } = await cuecard.createSession()
    const unknown = startPipe(cuecard, id, "--", "cat", "x")
    expect(await unknown.exit).toBe(1)
    expect(unknown.output()).toContain("--format")
  })
})
