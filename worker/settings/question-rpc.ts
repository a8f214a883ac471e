/** question-rpc.ts: the calls of the tenant object that pass the questions of external agents to programs. Pure. */

/** A question that waits for a program. Its text stays in the session. */
export interface OpenQuestion {
  /** The id of the empty answer, which is the `responseId` of the program's records. */
  readonly id: string
  readonly agent: string
  readonly user: string
  /** The key of the session (platform/session-key.ts). */
  readonly session: string
  /** Milliseconds since 1970. Afterwards, the answer fails. */
  readonly expires: number
}

export interface QuestionRpc {
  /**
   * Passes a question to a waiting program, or holds it until a program requests one. Repeating the call has no effect.
   */
  offerQuestion(question: OpenQuestion): void
  /** Returns the oldest open question of an agent. Waits for one for up to `waitMs`; null if there is none. */
  takeQuestion(agent: string, waitMs: number): Promise<OpenQuestion | null>
}
