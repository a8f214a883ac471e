/** question-rpc.ts: the tenant object's calls that pass questions for external agents to programs. Pure. */

/** A question that is waiting for a program. The text of the question is stored only in the session. */
export interface OpenQuestion {
  /** The id of the empty answer, which is the `responseId` of the program's records. */
  readonly id: string
  readonly agent: string
  readonly user: string
  /** The key of the session (platform/session-key.ts). */
  readonly session: string
  /** When the answer fails unless a program has claimed the question, in milliseconds since 1970. */
  readonly expires: number
}

export interface QuestionRpc {
  /**
   * Passes a question to a waiting program, or holds it until a program requests one. Repeating the call has no effect.
   */
  offerQuestion(question: OpenQuestion): void
  /** Returns an agent's oldest open question. If there is none, waits up to `waitMs` for one; null if none arrives. */
  takeQuestion(agent: string, waitMs: number): Promise<OpenQuestion | null>
}
