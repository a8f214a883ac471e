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
import { createClaudeMapper } from "../shared/ingest/claude.ts"
import { createCodexMapper } from "../shared/ingest/codex.ts"
import { createPiMapper } from "../shared/ingest/pi.ts"
import type { Mapper } from "../shared/ingest/scribe.ts"
import { createSender, type Sender, type Standing } from "./sender.ts"

const MAPPERS: Readonly<Record<string, () => Mapper>> = {
  claude: createClaudeMapper,
  codex: createCodexMapper,
  pi: createPiMapper,
}

/** How long a program may take over a clean end before it is killed, in milliseconds. */
const GRACE_MS = 4_000
const INTERRUPTED_EXIT = 130
const NOT_FOUND_EXIT = 127

const USAGE = `npm run pipe -- --session ID [--url http://127.0.0.1:8787] [--token T] [--format claude|codex|pi] -- program …
npm run pipe -- --session ID --stdin --format claude|codex|pi < stream.jsonl`

function say(text: string): void {
  process.stderr.write(`pipe: ${text}\n`)
}

function giveUp(text: string, code = 1): never {
  say(text)
  process.exit(code)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    session: { type: "string" },
    url: { type: "string", default: "http://127.0.0.1:8787" },
    token: { type: "string" },
    format: { type: "string" },
    stdin: { type: "boolean", default: false },
  },
})

/** The format that is asked for, or that the program's name tells. */
function mapperOf(): Mapper {
  const [program = ""] = positionals
  const format = values.format ?? basename(program).replace(/\.\w+$/, "")
  const make = Object.hasOwn(MAPPERS, format) ? MAPPERS[format] : undefined
  return make === undefined ? giveUp(`which format is it? --format claude, codex or pi\n${USAGE}`) : make()
}

async function askServer(path: string, token: string | null, body: object): Promise<Record<string, unknown>> {
  const headers = {
    "content-type": "application/json",
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  }
  const response = await fetch(new URL(path, values.url), { method: "POST", headers, body: JSON.stringify(body) })
  const answer = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new Error(`${path}: ${String(answer["code"])}`)
  return answer
}

/** A token for this one session: the one that is given, or one that the owner's token gives. */
async function tokenFor(session: string): Promise<string> {
  const given = values.token ?? process.env["CUECARD_TOKEN"] ?? null
  if (given !== null && scopeIn(given) === "external") return given
  const owner = given ?? String((await askServer("/v1/dev/token", null, {}))["token"])
  return String((await askServer(`/v1/sessions/${session}/external-token`, owner, {}))["token"])
}

function scopeIn(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")).scope
  } catch {
    return null
  }
}

/** Lines end at a line feed and nowhere else: JSON may hold other separators. */
async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let held = ""
  for await (const chunk of stream) {
    const lines = (held + decoder.decode(chunk, { stream: true })).split("\n")
    held = lines.pop() ?? ""
    yield* lines
  }
  // What a program did not finish is no event.
  if (held.trim().endsWith("}")) yield held
}

async function feed(stream: AsyncIterable<Buffer>, mapper: Mapper, sender: Sender): Promise<void> {
  for await (const line of linesOf(stream)) {
    sender.push(mapper.take(line))
    await sender.room()
  }
}

/** Ends a program and all that it has started. */
function stopProgram(child: ChildProcess): void {
  const { pid } = child
  if (pid === undefined || child.exitCode !== null) return
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-pid, name)
    } catch {
      // It is gone already.
    }
  }
  signal("SIGTERM")
  setTimeout(() => signal("SIGKILL"), GRACE_MS).unref()
}

/** Runs the program to its end; its exit code, null where a signal ended it. */
function runProgram(mapper: Mapper, sender: Sender, onStart: (child: ChildProcess) => void): Promise<number | null> {
  const [program = "", ...args] = positionals
  // In a group of its own: Ctrl-C comes to us, and what it has started ends with it.
  const stdin = process.stdin.isTTY ? "ignore" : "inherit"
  const child = spawn(program, args, { stdio: [stdin, "pipe", "inherit"], detached: true })
  onStart(child)
  return new Promise((resolve) => {
    child.on("error", (error) => giveUp(`${program}: ${error.message}`, NOT_FOUND_EXIT))
    const fed = feed(child.stdout as AsyncIterable<Buffer>, mapper, sender)
    child.on("close", (code) => void fed.then(() => resolve(code)))
  })
}

function tell(mapper: Mapper, sender: Sender, sent: number, { status, reason }: Standing): void {
  const told = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([name, n]) => `${name} ×${n}`).join(", ")
  say(`${sent} records sent; the answer is ${status ?? "open"}${reason == null ? "" : ` (${reason})`}`)
  if (mapper.unknown.size > 0) say(`passed over: ${told(mapper.unknown)}`)
  if (sender.refused.size > 0) say(`refused: ${told(sender.refused)}`)
}

async function main(session: string): Promise<number> {
  const mapper = mapperOf()
  const url = new URL(`/external/sessions/${session}/events?responseId=${randomUUID()}`, values.url)
  const token = await tokenFor(session).catch((error: Error) =>
    giveUp(`no token: ${error.message}. Give one: --token T`),
  )
  const raw = createSender({ url, token, warn: say })
  let sent = 0
  let isCancelled = false
  let child: ChildProcess | null = null
  const sender: Sender = {
    ...raw,
    push(records) {
      // What comes after the cancel is not part of the answer.
      if (isCancelled || records.length === 0) return
      sent += records.length
      raw.push(records)
    },
  }
  const cancel = (): void => {
    if (isCancelled) process.exit(INTERRUPTED_EXIT)
    sender.push([{ type: "output_cancelled" }])
    isCancelled = true
    sender.close()
    if (child !== null) stopProgram(child)
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, cancel)
  // However the answer ends, what runs for it ends too: a reader may have stopped it.
  const standing = sender.done.finally(() => child !== null && stopProgram(child))
  standing.catch(() => {})
  const exit = values.stdin
    ? await feed(process.stdin, mapper, sender).then(() => null)
    : await runProgram(mapper, sender, (started) => {
        child = started
      })
  sender.push(mapper.end(exit))
  sender.close()
  const end = await standing
  tell(mapper, sender, sent, end)
  if (isCancelled) return INTERRUPTED_EXIT
  return exit !== null && exit !== 0 ? exit : end.status === "completed" ? 0 : 1
}

const { session } = values
if (session === undefined || (!values.stdin && positionals.length === 0)) giveUp(USAGE)
process.exit(await main(session).catch((error: Error) => giveUp(error.message)))
