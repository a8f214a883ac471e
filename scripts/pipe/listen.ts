/**
 * listen.ts: waits for the questions of an external agent, and runs a program for each question, one at a time. SPEC
 * PI13.
 *
 * GET /external/agents/:name/question → question → program → its answer
 */

import { setTimeout as delay } from "node:timers/promises"
import { backoffDelayMs } from "../../shared/backoff.ts"
import type { Mapper } from "../../shared/ingest/record-writer.ts"
import { type Program, ProgramAnswer } from "./program-answer.ts"
import { RecordSender } from "./record-sender.ts"

/** How long one request waits for a question, in seconds. */
const WAIT_SECONDS = 20
/** Delays after a failed request, in milliseconds. */
const RETRY = { firstMs: 500, maxMs: 30_000 }

export interface ListenOptions {
  readonly agent: string
  /** The program and its arguments. */
  readonly command: readonly string[]
  readonly resolveUrl: (path: string) => URL
  /** Returns the token of a request. Called again after the server has refused one. */
  readonly obtainToken: () => Promise<string>
  readonly createMapper: () => Mapper
  readonly print: (text: string) => void
}

interface Question {
  readonly id: string
  readonly session: string
  readonly user: string
  readonly text: string
  readonly token: string
}

/** Thrown if the server refuses a request and a retry would not help. */
export class RefusedError extends Error {}

export class Listener {
  readonly #options: ListenOptions
  readonly #stopped = new AbortController()
  #answer: ProgramAnswer | null = null
  #token: string | null = null

  constructor(options: ListenOptions) {
    this.#options = options
  }

  /** Answers questions until `stop` is called. Throws a RefusedError if the server refuses the agent or the token. */
  async run(): Promise<void> {
    this.#options.print(`waiting for questions to ${this.#options.agent}`)
    for (let failures = 0; !this.#stopped.signal.aborted; ) {
      try {
        const question = await this.#fetchQuestion()
        failures = 0
        if (question !== null) await this.#answerQuestion(question)
      } catch (error) {
        if (this.#stopped.signal.aborted) return
        if (error instanceof RefusedError) throw error
        failures += 1
        if (failures === 1) this.#options.print(`${error instanceof Error ? error.message : error}; retrying`)
        await delay(backoffDelayMs(failures, RETRY), null, { signal: this.#stopped.signal }).catch(() => {})
      }
    }
  }

  /** Cancels the running answer and ends `run`. Returns false if that was already done. */
  stop(): boolean {
    if (this.#stopped.signal.aborted) return false
    this.#stopped.abort()
    this.#answer?.cancel()
    return true
  }

  /** Kills the running program. */
  kill(): void {
    this.#answer?.kill()
  }

  async #fetchQuestion(): Promise<Question | null> {
    const { agent, resolveUrl, obtainToken } = this.#options
    const isNewToken = this.#token === null
    this.#token ??= await obtainToken()
    const url = resolveUrl(`external/agents/${encodeURIComponent(agent)}/question?wait=${WAIT_SECONDS}`)
    const headers = { authorization: `Bearer ${this.#token}` }
    const response = await fetch(url, { headers, signal: this.#stopped.signal })
    const body = (await response.json()) as { question?: Question | null; code?: string; text?: string }
    if (response.ok) return body.question ?? null
    const reason = `${body.code ?? response.status}: ${body.text ?? "refused"}`
    // The token of a local server may have expired, so it is renewed.
    if (response.status === 401 && !isNewToken) this.#token = null
    else if (response.status < 500 && response.status !== 429) throw new RefusedError(reason)
    throw new Error(reason)
  }

  async #answerQuestion({ id, session, user, text, token }: Question): Promise<void> {
    const { resolveUrl, createMapper, print } = this.#options
    print(`a question from ${user} in ${session}`)
    const path = `external/sessions/${encodeURIComponent(session)}/events?responseId=${encodeURIComponent(id)}`
    const sender = new RecordSender({ url: resolveUrl(path), token, warn: print, hasBegun: true })
    const program = this.#createProgram(text, session)
    const answer = new ProgramAnswer({ program, mapper: createMapper(), sender, print, isAsked: true })
    this.#answer = answer
    try {
      await answer.run()
    } catch (error) {
      print(`the answer was not sent: ${error instanceof Error ? error.message : error}`)
      answer.kill()
    } finally {
      this.#answer = null
    }
  }

  /**
   * The program receives the question on standard input. As an argument, it could be mistaken for an option, and a user
   * must not be able to set options of the program.
   */
  #createProgram(text: string, session: string): Program {
    const [command = "", ...args] = this.#options.command
    return { command, args, input: text, env: { CUECARD_SESSION: session } }
  }
}
