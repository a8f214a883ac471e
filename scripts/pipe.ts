/**
 * pipe.ts: runs a program that answers (Claude Code, Codex, Pi) and shows its answer live in a session.
 *
 * program → its own events → mapper (shared/ingest) → records → sender → session
 * `npm run pipe -- --session ID -- claude -p "…" --output-format stream-json --verbose`
 * `npm run pipe -- --session ID --stdin --format codex < stream.jsonl`
 */

import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { basename } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { createClaudeMapper } from "../shared/ingest/claude-stream.ts"
import { createCodexMapper } from "../shared/ingest/codex-stream.ts"
import { createPiMapper } from "../shared/ingest/pi-stream.ts"
import type { Mapper } from "../shared/ingest/record-writer.ts"
import { createLineSplitter, type Line } from "../shared/ingest/line-splitter.ts"
import { createSender, type Sender, type Standing } from "./record-sender.ts"

const MAPPERS: Readonly<Record<string, () => Mapper>> = {
  claude: createClaudeMapper,
  codex: createCodexMapper,
  pi: createPiMapper,
}

/** How long a program may take over a clean end before it is killed, in milliseconds. */
const GRACE_MS = 4_000
const INTERRUPTED_EXIT = 130
const NOT_FOUND_EXIT = 127
/** A longer line is passed over, in bytes: no event that a reader would see is as long. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

const USAGE = `npm run pipe -- --session ID [--url http://127.0.0.1:8787] [--token T] [--format claude|codex|pi] -- program …
npm run pipe -- --session ID --stdin --format claude|codex|pi < stream.jsonl
A token is better given in CUECARD_TOKEN: everybody on this machine can read the arguments of a program.`

function printStatus(text: string): void {
  process.stderr.write(`pipe: ${text}\n`)
}

function exitWithError(text: string, code = 1): never {
  printStatus(text)
  process.exit(code)
}

const { values, positionals } = readArgs()

function readArgs() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        session: { type: "string" },
        url: { type: "string", default: "http://127.0.0.1:8787" },
        token: { type: "string" },
        format: { type: "string" },
        stdin: { type: "boolean", default: false },
      },
    })
  } catch (error) {
    return exitWithError(`${error instanceof Error ? error.message : error}\n${USAGE}`)
  }
}

/** The server may stand behind a path of its own. */
function resolveUrl(path: string): URL {
  return URL.parse(path, values.url.replace(/\/*$/, "/")) ?? exitWithError(`${values.url} is no address\n${USAGE}`)
}

/** The format that is asked for, or that the program's name tells. */
function selectMapper(): Mapper {
  const [program = ""] = positionals
  const format = values.format ?? basename(program).replace(/\.\w+$/, "")
  const make = Object.hasOwn(MAPPERS, format) ? MAPPERS[format] : undefined
  return make === undefined ? exitWithError(`which format is it? --format claude, codex or pi\n${USAGE}`) : make()
}

async function askServer(path: string, token: string | null, body: object): Promise<Record<string, unknown>> {
  const headers = {
    "content-type": "application/json",
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  }
  const response = await fetch(resolveUrl(path), { method: "POST", headers, body: JSON.stringify(body) })
  const answer = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new Error(`${path}: ${String(answer["code"])}`)
  return answer
}

/** A token for this one session: the one that is given, or one that the owner's token gives. */
async function obtainToken(session: string): Promise<string> {
  const given = values.token ?? process.env["CUECARD_TOKEN"] ?? null
  if (given !== null && readScope(given) === "external") return given
  const owner = given ?? String((await askServer("v1/dev/token", null, {}))["token"])
  return String((await askServer(`v1/sessions/${encodeURIComponent(session)}/external-token`, owner, {}))["token"])
}

function readScope(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")).scope
  } catch {
    return null
  }
}

/** Lines end at a line feed and nowhere else: JSON may hold other separators. */
async function* splitLines(stream: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  const splitter = createLineSplitter(MAX_LINE_BYTES)
  for await (const chunk of stream) yield* splitter.push(chunk)
  // What a program did not finish is no event.
  yield* splitter.end().filter(({ text }) => text.ok && text.value.trimEnd().endsWith("}"))
}

/** Lines that are too long, or no text. */
let unreadableLines = 0

async function feedMapper(stream: AsyncIterable<Buffer>, mapper: Mapper, sender: Sender): Promise<void> {
  for await (const { text } of splitLines(stream)) {
    if (text.ok) sender.push(mapper.mapLine(text.value))
    else unreadableLines += 1
    await sender.waitForCapacity()
  }
}

/** Sends a signal to a program and all that it has started. */
function signalProgram(child: ChildProcess | null, name: NodeJS.Signals): void {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(-child.pid, name)
  } catch {
    // It is gone already.
  }
}

function stopProgram(child: ChildProcess | null): void {
  signalProgram(child, "SIGTERM")
  setTimeout(() => signalProgram(child, "SIGKILL"), GRACE_MS).unref()
}

/** Runs the program to its end; its exit code, null where a signal ended it. */
function runProgram(mapper: Mapper, sender: Sender, onStart: (child: ChildProcess) => void): Promise<number | null> {
  const [program = "", ...args] = positionals
  // In a group of its own: Ctrl-C comes to us, and what it has started ends with it.
  const stdin = process.stdin.isTTY ? "ignore" : "inherit"
  // Our token is none of its business.
  const { CUECARD_TOKEN: _, ...env } = process.env
  const child = spawn(program, args, { stdio: [stdin, "pipe", "inherit"], detached: true, env })
  onStart(child)
  return new Promise((resolve) => {
    child.on("error", (error) => exitWithError(`${program}: ${error.message}`, NOT_FOUND_EXIT))
    const fed = feedMapper(child.stdout as AsyncIterable<Buffer>, mapper, sender)
    child.on("close", (code) => void fed.then(() => resolve(code)))
  })
}

function printSummary(mapper: Mapper, sender: Sender, sent: number, { status, reason }: Standing): void {
  const formatCounts = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([name, n]) => `${name} ×${n}`).join(", ")
  printStatus(`${sent} records sent; the answer is ${status ?? "open"}${reason == null ? "" : ` (${reason})`}`)
  if (unreadableLines > 0) printStatus(`lines that could not be read: ${unreadableLines}`)
  if (mapper.unknown.size > 0) printStatus(`passed over: ${formatCounts(mapper.unknown)}`)
  if (sender.refused.size > 0) printStatus(`refused: ${formatCounts(sender.refused)}`)
}

async function main(session: string): Promise<number> {
  const mapper = selectMapper()
  const url = resolveUrl(`external/sessions/${encodeURIComponent(session)}/events?responseId=${randomUUID()}`)
  const token = await obtainToken(session).catch((error: Error) =>
    exitWithError(`no token: ${error.message}. Give one: --token T`),
  )
  const raw = createSender({ url, token, warn: printStatus })
  let sent = 0
  let isCancelled = false
  let child: ChildProcess | null = null
  const sender: Sender = {
    ...raw,
    push(records) {
      // What comes after the cancel is not part of the answer.
      if (!isCancelled) sent += records.length
      raw.push(records)
    },
  }
  const cancel = (): void => {
    // Asked twice: at once, and `exit` below leaves nothing behind.
    if (isCancelled) process.exit(INTERRUPTED_EXIT)
    isCancelled = true
    sender.cancel()
    stopProgram(child)
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) process.on(signal, cancel)
  process.on("exit", () => signalProgram(child, "SIGKILL"))
  // However the answer ends, what runs for it ends too: a reader may have stopped it.
  const standing = sender.done.finally(() => stopProgram(child))
  standing.catch(() => {})
  const exit = values.stdin
    ? // Where the answer has ended, nobody reads on.
      await Promise.race([feedMapper(process.stdin, mapper, sender), standing]).then(() => null)
    : await runProgram(mapper, sender, (started) => {
        child = started
      })
  sender.push(mapper.end(exit))
  sender.close()
  const end = await standing
  printSummary(mapper, sender, sent, end)
  if (isCancelled) return INTERRUPTED_EXIT
  return exit !== null && exit !== 0 ? exit : end.status === "completed" ? 0 : 1
}

const { session } = values
if (session === undefined || (!values.stdin && positionals.length === 0)) exitWithError(USAGE)
process.exit(await main(session).catch((error: Error) => exitWithError(error.message)))
