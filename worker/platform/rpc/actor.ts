/** actor.ts: who made a change that the audit log records. */

/** The part of a request that the audit log keeps. */
export interface Actor {
  /** `system`: a job that runs by itself. */
  readonly kind: "user" | "key" | "operator" | "system"
  /** The id of the user or API key; empty for the other kinds. */
  readonly id: string
  /** The client's address, truncated to its network; null if there is none. */
  readonly address: string | null
}

export const SYSTEM_ACTOR: Actor = { kind: "system", id: "", address: null }
