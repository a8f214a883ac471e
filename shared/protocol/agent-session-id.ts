/** agent-session-id.ts: the prefix that distinguishes the ids of agent sessions from the ids of users' sessions. Pure. */

/** Prefix of the ids of agent sessions. Users can't create sessions with it (SPEC AG9). */
export const AGENT_SESSION_PREFIX = "agent-"

export function isAgentSession(id: string): boolean {
  return id.startsWith(AGENT_SESSION_PREFIX)
}
