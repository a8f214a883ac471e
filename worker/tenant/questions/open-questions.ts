/**
 * open-questions.ts: passes questions for external agents to the programs that are waiting for them. Source: SPEC EA4.
 *
 * session ▶ OPEN QUESTIONS ▶ the request of a program
 * Nothing is stored. A session offers its question again until a program has taken it, so a restart loses nothing.
 */

import { MAX_LISTENERS, MAX_OPEN_QUESTIONS } from "../../../shared/listener-limits.ts"
import type { OpenQuestion } from "../../settings/question-rpc.ts"

interface Listener {
  readonly agent: string
  readonly resolve: (question: OpenQuestion | null) => void
}

export class OpenQuestions {
  /** In the order in which they were first offered. */
  readonly #questions = new Map<string, OpenQuestion>()
  /** In the order of their requests. */
  readonly #listeners = new Set<Listener>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  offer(question: OpenQuestion): void {
    this.#dropExpired()
    for (const listener of this.#listeners) {
      if (listener.agent === question.agent) return listener.resolve(question)
    }
    // If there is no room, the question waits in its session, which offers it again later.
    if (this.#questions.size < MAX_OPEN_QUESTIONS) this.#questions.set(question.id, question)
  }

  async take(agent: string, waitMs: number): Promise<OpenQuestion | null> {
    this.#dropExpired()
    for (const question of this.#questions.values()) {
      if (question.agent !== agent) continue
      this.#questions.delete(question.id)
      return question
    }
    return this.#listeners.size < MAX_LISTENERS ? await this.#waitFor(agent, waitMs) : null
  }

  #waitFor(agent: string, waitMs: number): Promise<OpenQuestion | null> {
    return new Promise((resolve) => {
      const listener: Listener = {
        agent,
        resolve: (question) => {
          clearTimeout(timer)
          this.#listeners.delete(listener)
          resolve(question)
        },
      }
      const timer = setTimeout(() => listener.resolve(null), waitMs)
      this.#listeners.add(listener)
    })
  }

  #dropExpired(): void {
    const now = this.#now()
    for (const [id, { expires }] of this.#questions) if (expires <= now) this.#questions.delete(id)
  }
}
