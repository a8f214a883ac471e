/**
 * pipe.ts: runs a coding agent (Claude Code, Codex, Pi) and streams its answer into a session.
 *
 * program → its events → mapper (shared/ingest) → records → record-sender → session
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
import { RecordSender, type Standing } from "./record-sender.ts"

const MAPPERS: Readonly<Record<string, () => Mapper>> = {
  claude: createClaudeMapper,
  codex: createCodexMapper,
  pi: createPiMapper,
}

/** Time between asking the program to end and killing it, in milliseconds. */
const GRACE_MS = 4_000
const INTERRUPTED_EXIT = 130
const NOT_FOUND_EXIT = 127
/** Longest line that is read, in bytes. Longer ones are skipped; no event with visible content is that long. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

const USAGE = `npm run pipe -- --session ID [--url http://127.0.0.1:8787] [--token T] [--format claude|codex|pi] -- program …
npm run pipe -- --session ID --stdin --format claude|codex|pi < stream.jsonl
Prefer CUECARD_TOKEN to --token: every user of this machine can read the arguments of a program.`

function printStatus(text: string): void {
  process.stderr.write(`pipe: ${text}\n`)
}

function exitWithError(text: string, code = 1): never {
  printStatus(text)
  process.exit(code)
}

const { values, positionals } = readArgs()

/**
 * Joins `--session` and the next argument with an equals sign. One session ID in 64 begins with a hyphen, and
 * `parseArgs` takes a separate argument with a hyphen for an option.
 */
function joinSessionOption(args: readonly string[]): string[] {
  const end = args.indexOf("--")
  const at = args.indexOf("--session")
  if (at === -1 || at + 1 >= args.length || (end !== -1 && at + 1 >= end)) return [...args]
  return [...args.slice(0, at), `--session=${args[at + 1]}`, ...args.slice(at + 2)]
}

function readArgs() {
  try {
    return parseArgs({
      args: joinSessionOption(process.argv.slice(2)),
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

/** Resolves a path against the server's URL, which may itself have a path. */
function resolveUrl(path: string): URL {
  return URL.parse(path, values.url.replace(/\/*$/, "/")) ?? exitWithError(`${values.url} is not a URL\n${USAGE}`)
}

/** The mapper for `--format`, or for the name of the program. */
function selectMapper(): Mapper {
  const [program = ""] = positionals
  const format = values.format ?? basename(program).replace(/\.\w+$/, "")
  const createMapper = Object.hasOwn(MAPPERS, format) ? MAPPERS[format] : undefined
  return createMapper?.() ?? exitWithError(`unknown format. Use --format claude, codex or pi\n${USAGE}`)
}

async function postJson(path: string, token: string | null, body: object): Promise<Record<string, unknown>> {
  const headers = {
    "content-type": "application/json",
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  }
  const response = await fetch(resolveUrl(path), { method: "POST", headers, body: JSON.stringify(body) })
  const result = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new Error(`${path}: ${String(result["code"])}`)
  return result
}

/** A producer token for the session: the given one, or one created with the given user token. */
async function obtainToken(session: string): Promise<string> {
  const given = values.token ?? process.env["CUECARD_TOKEN"] ?? null
  if (given !== null && readScope(given) === "external") return given
  const owner = given ?? String((await postJson("v1/dev/token", null, {}))["token"])
  return String((await postJson(`v1/sessions/${encodeURIComponent(session)}/external-token`, owner, {}))["token"])
}

function readScope(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")).scope
  } catch {
    return null
  }
}

/** Splits at line feeds only, because JSON may contain other line separators. */
async function* splitLines(stream: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  const splitter = createLineSplitter(MAX_LINE_BYTES)
  for await (const chunk of stream) yield* splitter.push(chunk)
  // An unfinished last line is not an event.
  yield* splitter.end().filter(({ text }) => text.ok && text.value.trimEnd().endsWith("}"))
}

/** Signals a program and everything it started. */
function signalProgram(child: ChildProcess | null, name: NodeJS.Signals): void {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(-child.pid, name)
  } catch {
    // It has already ended.
  }
}

function stopProgram(child: ChildProcess | null): void {
  signalProgram(child, "SIGTERM")
  setTimeout(() => signalProgram(child, "SIGKILL"), GRACE_MS).unref()
}

/** Prints counts as "name ×2, other ×1". */
function formatCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ×${count}`).join(", ")
}

class Pipe {
  readonly #mapper: Mapper
  readonly #sender: RecordSender
  #child: ChildProcess | null = null
  #isCancelled = false
  #sentCount = 0
  /** Number of lines that were too long or not UTF-8. */
  #unreadableCount = 0

  constructor(mapper: Mapper, sender: RecordSender) {
    this.#mapper = mapper
    this.#sender = sender
  }

  /** Streams the whole answer. Returns the exit code of this process. */
  async run(): Promise<number> {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) process.on(signal, () => this.#cancel())
    process.on("exit", () => signalProgram(this.#child, "SIGKILL"))
    // The program ends with the answer, for example when the user stops the answer on the page.
    const standing = this.#sender.done.finally(() => stopProgram(this.#child))
    standing.catch(() => {})
    const exitCode = values.stdin ? await this.#readStdin(standing) : await this.#runProgram()
    this.#push(this.#mapper.end(exitCode))
    this.#sender.close()
    const end = await standing
    this.#printSummary(end)
    if (this.#isCancelled) return INTERRUPTED_EXIT
    return exitCode !== null && exitCode !== 0 ? exitCode : end.status === "completed" ? 0 : 1
  }

  #cancel(): void {
    // A second signal exits at once. The exit handler kills the program.
    if (this.#isCancelled) process.exit(INTERRUPTED_EXIT)
    this.#isCancelled = true
    this.#sender.cancel()
    stopProgram(this.#child)
  }

  /** Reads stdin to its end, or until the answer has ended. */
  async #readStdin(standing: Promise<Standing>): Promise<null> {
    await Promise.race([this.#feedLines(process.stdin), standing])
    return null
  }

  /** Runs the program to its end. Returns its exit code, null if a signal ended it. */
  #runProgram(): Promise<number | null> {
    const [program = "", ...args] = positionals
    const stdin = process.stdin.isTTY ? "ignore" : "inherit"
    // The program must not see the token.
    const { CUECARD_TOKEN: _, ...env } = process.env
    // The program gets its own process group, so Ctrl-C reaches only this process, which then ends the whole group.
    const child = spawn(program, args, { stdio: [stdin, "pipe", "inherit"], detached: true, env })
    this.#child = child
    return new Promise((resolve) => {
      child.on("error", (error) => exitWithError(`${program}: ${error.message}`, NOT_FOUND_EXIT))
      const fed = this.#feedLines(child.stdout as AsyncIterable<Buffer>)
      child.on("close", (code) => void fed.then(() => resolve(code)))
    })
  }

  async #feedLines(stream: AsyncIterable<Buffer>): Promise<void> {
    for await (const { text } of splitLines(stream)) {
      if (text.ok) this.#push(this.#mapper.mapLine(text.value))
      else this.#unreadableCount += 1
      await this.#sender.waitForCapacity()
    }
  }

  #push(records: readonly object[]): void {
    // The sender drops records that are pushed after a cancel.
    if (!this.#isCancelled) this.#sentCount += records.length
    this.#sender.push(records)
  }

  #printSummary({ status, reason }: Standing): void {
    const reasonNote = reason == null ? "" : ` (${reason})`
    printStatus(`${this.#sentCount} records sent; the answer is ${status ?? "open"}${reasonNote}`)
    if (this.#unreadableCount > 0) printStatus(`lines that could not be read: ${this.#unreadableCount}`)
    if (this.#mapper.unknown.size > 0) printStatus(`unknown types: ${formatCounts(this.#mapper.unknown)}`)
    if (this.#sender.refused.size > 0) printStatus(`refused: ${formatCounts(this.#sender.refused)}`)
  }
}

async function runPipe(session: string): Promise<number> {
  const mapper = selectMapper()
  const url = resolveUrl(`external/sessions/${encodeURIComponent(session)}/events?responseId=${randomUUID()}`)
  const token = await obtainToken(session).catch((error: Error) =>
    exitWithError(`no token: ${error.message}. Pass one with --token T`),
  )
  return await new Pipe(mapper, new RecordSender({ url, token, warn: printStatus })).run()
}

const { session } = values
if (session === undefined || (!values.stdin && positionals.length === 0)) exitWithError(USAGE)
process.exit(await runPipe(session).catch((error: Error) => exitWithError(error.message)))
