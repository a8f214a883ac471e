/** agent-session-id.ts: the id prefix that distinguishes agent sessions from users' sessions. Pure. */

/** The id prefix of agent sessions. Users can't create sessions with this prefix (SPEC AG9). */
export const AGENT_SESSION_PREFIX = "agent-"

export function isAgentSession(id: string): boolean {
  return id.startsWith(AGENT_SESSION_PREFIX)
}
