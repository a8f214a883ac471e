/**
 * agent-message.ts: the stored message of role `agent`, which begins a turn on behalf of another agent.
 */

import { createMessage, type Message } from "../../shared/protocol/message.ts"

/** `id` is also the id of its exchange. */
export function createAgentMessage(
  id: string,
  text: string,
  agent: NonNullable<Message["agent"]>,
  nowMs: number,
): Message {
  const timestamp = new Date(nowMs).toISOString()
  return createMessage({ id, role: "agent", exchange_id: id, status: "completed", timestamp, words: text, agent })
}
