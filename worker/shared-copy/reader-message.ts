/**
 * reader-message.ts: what the readers of a shared copy get of a message: what the owner's page shows of it. Pure.
 */

import type { WireMessage } from "../../shared/protocol/server-frame.ts"

/**
 * Leaves out the numbers of other versions, usage, cost and trace ids. Text, thinking, tool calls as shown, cards and files
 * stay. SPEC SR4.
 */
export function toReaderMessage(message: WireMessage): WireMessage {
  const { version: _version, versions: _versions, trace: _trace, ...shown } = message
  return { ...shown, metrics: null }
}
