/** agent-session-id.ts: how the ids of agent sessions differ from those of a user's sessions. Pure. */

/** Prefix of the ids of agent sessions. Users can't create sessions with it (SPEC AG9). */
export const AGENT_SESSION_PREFIX = "agent-"

export function isAgentSession(id: string): boolean {
  return id.startsWith(AGENT_SESSION_PREFIX)
}
