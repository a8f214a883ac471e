/**
 * pipe.ts: runs a coding agent (Claude Code, Codex, Pi) and streams its answer into a session.
 *
 * program → its events → mapper (shared/ingest) → records → record-sender → session
 * `npm run pipe -- --session ID -- claude -p "…" --output-format stream-json --verbose`
 * `npm run pipe -- --session ID --stdin --format codex < stream.jsonl`
 * `npm run pipe -- --listen AGENT -- claude -p --output-format stream-json --verbose`
 */

import { randomUUID } from "node:crypto"
import { basename } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { createClaudeMapper } from "../../shared/ingest/claude-stream.ts"
import { createCodexMapper } from "../../shared/ingest/codex-stream.ts"
import { createPiMapper } from "../../shared/ingest/pi-stream.ts"
import type { Mapper } from "../../shared/ingest/record-writer.ts"
import { Listener } from "./listen.ts"
import { INTERRUPTED_EXIT, NOT_FOUND_EXIT, type Program, ProgramAnswer, ProgramError } from "./program-answer.ts"
import { RecordSender } from "./record-sender.ts"

const MAPPERS: Readonly<Record<string, () => Mapper>> = {
  claude: createClaudeMapper,
  codex: createCodexMapper,
  pi: createPiMapper,
}

const USAGE = `npm run pipe -- --session ID [--url http://127.0.0.1:8787] [--token T] [--format claude|codex|pi] -- program …
npm run pipe -- --session ID --stdin --format claude|codex|pi < stream.jsonl
npm run pipe -- --listen AGENT [--url …] [--token KEY] [--format claude|codex|pi] -- program …
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
 * `parseArgs` treats a separate argument that begins with a hyphen as an option.
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
        listen: { type: "string" },
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

/** Returns the mapper for `--format`, or for the name of the program. */
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

/** Returns a producer token for the session: the given one, or one created with the given user token. */
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

/** Handles the signals that end this process: the first one calls `cancel`, and a second one exits. */
function handleSignals(cancel: () => boolean, kill: () => void): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
    // A second signal exits at once. The exit handler kills the program.
    process.on(signal, () => {
      if (!cancel()) process.exit(INTERRUPTED_EXIT)
    })
  }
  process.on("exit", kill)
}

async function runPipe(session: string): Promise<number> {
  const mapper = selectMapper()
  const url = resolveUrl(`external/sessions/${encodeURIComponent(session)}/events?responseId=${randomUUID()}`)
  const token = await obtainToken(session).catch((error: Error) =>
    exitWithError(`no token: ${error.message}. Pass one with --token T`),
  )
  const [command = "", ...args] = positionals
  const program: Program | null = values.stdin ? null : { command, args, input: null, env: {} }
  const sender = new RecordSender({ url, token, warn: printStatus })
  const answer = new ProgramAnswer({ program, mapper, sender, print: printStatus, isAsked: false })
  handleSignals(
    () => answer.cancel(),
    () => answer.kill(),
  )
  return await answer.run()
}

/** Returns the given token or API key. A local server issues an administrator's token. */
async function obtainListenerToken(): Promise<string> {
  const given = values.token ?? process.env["CUECARD_TOKEN"] ?? null
  return given ?? String((await postJson("v1/dev/token", null, { role: "owner" }))["token"])
}

async function runListener(agent: string): Promise<number> {
  // An unknown format is reported before the first question.
  selectMapper()
  const options = { agent, command: positionals, resolveUrl, print: printStatus }
  const listener = new Listener({ ...options, obtainToken: obtainListenerToken, createMapper: selectMapper })
  handleSignals(
    () => listener.stop(),
    () => listener.kill(),
  )
  await listener.run()
  return INTERRUPTED_EXIT
}

async function runCommand(): Promise<number> {
  const { session, listen, stdin } = values
  const hasProgram = positionals.length > 0
  if (listen !== undefined && session === undefined && !stdin && hasProgram) return await runListener(listen)
  if (listen === undefined && session !== undefined && (stdin || hasProgram)) return await runPipe(session)
  return exitWithError(USAGE)
}

process.exit(
  await runCommand().catch((error: Error) =>
    exitWithError(error.message, error instanceof ProgramError ? NOT_FOUND_EXIT : 1),
  ),
)
