/**
 * program-answer.ts: runs a program that answers one question, or reads its recorded output, and sends the answer as
 * records.
 *
 * program → its events → mapper (shared/ingest) → records → record-sender → session
 */

import { type ChildProcess, spawn } from "node:child_process"
import process from "node:process"
import { createLineSplitter, type Line } from "../../shared/ingest/line-splitter.ts"
import type { Mapper } from "../../shared/ingest/record-writer.ts"
import type { RecordSender, Standing } from "./record-sender.ts"

/** Time between asking the program to end and killing it, in milliseconds. */
const GRACE_MS = 4_000
export const INTERRUPTED_EXIT = 130
/** The exit code that is reported if the program could not be started. */
export const NOT_FOUND_EXIT = 127
/**
 * Maximum length of a line that is read, in bytes. Longer lines are skipped; no event with visible content is that
 * long.
 */
const MAX_LINE_BYTES = 16 * 1024 * 1024

/** Thrown if a program could not be started. */
export class ProgramError extends Error {}

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  /**
   * Text that is written to the program's standard input; null if the program inherits the standard input of this
   * process.
   */
  readonly input: string | null
  /** Variables that are added to the program's environment. */
  readonly env: Readonly<Record<string, string>>
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
    // The program has already ended.
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

export interface ProgramAnswerOptions {
  /** Null if the events come from the standard input. */
  readonly program: Program | null
  readonly mapper: Mapper
  readonly sender: RecordSender
  readonly print: (text: string) => void
  /**
   * Whether a user waits for the answer. If the program cannot be started, such an answer fails; any other answer never
   * begins.
   */
  readonly isAsked: boolean
}

export class ProgramAnswer {
  readonly #options: ProgramAnswerOptions
  #child: ChildProcess | null = null
  #isCancelled = false
  #sentCount = 0
  /** Number of lines that were too long or not UTF-8. */
  #unreadableCount = 0

  constructor(options: ProgramAnswerOptions) {
    this.#options = options
  }

  /**
   * Streams the whole answer. Returns the exit code of the program or, if that is 0, a code that says whether the
   * answer is complete. Throws a ProgramError if the program could not be started and nobody waits for the answer.
   */
  async run(): Promise<number> {
    const { program, mapper, sender } = this.#options
    // The program is stopped when the answer ends, for example when the user stops the answer on the page.
    const standing = sender.done.finally(() => stopProgram(this.#child))
    standing.catch(() => {})
    const exitCode = program === null ? await this.#readStdin(standing) : await this.#runProgram(program)
    this.#push(mapper.end(exitCode))
    sender.close()
    const end = await standing
    this.#printSummary(end)
    if (this.#isCancelled) return INTERRUPTED_EXIT
    return exitCode !== null && exitCode !== 0 ? exitCode : end.status === "completed" ? 0 : 1
  }

  /** Cancels the answer and stops the program. Returns false if that was already done. */
  cancel(): boolean {
    if (this.#isCancelled) return false
    this.#isCancelled = true
    this.#options.sender.cancel()
    stopProgram(this.#child)
    return true
  }

  /** Kills the program and everything it started. */
  kill(): void {
    signalProgram(this.#child, "SIGKILL")
  }

  /** Reads stdin to its end, or until the answer has ended. */
  async #readStdin(standing: Promise<Standing>): Promise<null> {
    await Promise.race([this.#feedLines(process.stdin), standing])
    return null
  }

  /** Runs the program to its end. Returns its exit code; null if a signal ended it. */
  #runProgram({ command, args, input, env }: Program): Promise<number | null> {
    const stdin = input !== null ? "pipe" : process.stdin.isTTY ? "ignore" : "inherit"
    // The program must not see the token.
    const { CUECARD_TOKEN: _, ...inherited } = process.env
    const options = { detached: true, env: { ...inherited, ...env } }
    // The program gets its own process group, so Ctrl-C reaches only this process, which then ends the whole group.
    const child = spawn(command, args, { stdio: [stdin, "pipe", "inherit"], ...options })
    this.#child = child
    // A program that doesn't read its input may end first.
    child.stdin?.on("error", () => {})
    child.stdin?.end(input ?? "")
    return new Promise((resolve, reject) => {
      child.on("error", (error) => {
        const message = `${command}: ${error.message}`
        if (!this.#options.isAsked) return reject(new ProgramError(message))
        this.#options.print(message)
        resolve(NOT_FOUND_EXIT)
      })
      const fed = this.#feedLines(child.stdout as AsyncIterable<Buffer>)
      child.on("close", (code) => void fed.then(() => resolve(code)))
    })
  }

  async #feedLines(stream: AsyncIterable<Buffer>): Promise<void> {
    for await (const { text } of splitLines(stream)) {
      if (text.ok) this.#push(this.#options.mapper.mapLine(text.value))
      else this.#unreadableCount += 1
      await this.#options.sender.waitForCapacity()
    }
  }

  #push(records: readonly object[]): void {
    // The sender drops records that are pushed after a cancel.
    if (!this.#isCancelled) this.#sentCount += records.length
    this.#options.sender.push(records)
  }

  #printSummary({ status, reason }: Standing): void {
    const reasonNote = reason == null ? "" : ` (${reason})`
    this.#options.print(`${this.#sentCount} records sent; the answer is ${status ?? "open"}${reasonNote}`)
    if (this.#unreadableCount > 0) this.#options.print(`lines that could not be read: ${this.#unreadableCount}`)
    if (this.#options.mapper.unknown.size > 0)
      this.#options.print(`unknown types: ${formatCounts(this.#options.mapper.unknown)}`)
    if (this.#options.sender.refused.size > 0)
      this.#options.print(`refused: ${formatCounts(this.#options.sender.refused)}`)
  }
}
