/**
 * agent-message.ts: the stored message of role `agent`, which begins a turn on behalf of another agent.
 */

import { createMessage, type Message } from "../../shared/protocol/message.ts"

/**
 * Creates the message. `id` is also the id of the message's exchange. `trace` is the asking turn's trace, which all
 * turns of one question share.
 */
export function createAgentMessage(
  id: string,
  text: string,
  agent: NonNullable<Message["agent"]>,
  nowMs: number,
  trace: string | undefined,
): Message {
  const timestamp = new Date(nowMs).toISOString()
  const head = { id, exchange_id: id, timestamp, words: text, agent }
  return createMessage({ ...head, role: "agent", status: "completed", ...(trace === undefined ? {} : { trace }) })
}
