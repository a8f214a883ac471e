/** reader-message.ts: reduces a message to the parts that readers of a shared copy receive. Pure. */

import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"

/**
 * Omits the numbers of other versions, usage, cost, trace ids and MCP Apps, whose results are shown as text (SPEC
 * MA10). Text, thinking, tool calls as shown, cards and files are kept. SPEC SR4.
 */
export function toReaderMessage(message: WireMessage): WireMessage {
  const { version: _version, versions: _versions, trace: _trace, ...shown } = message
  return { ...shown, segments: shown.segments.map(withoutApp), metrics: null }
}

function withoutApp(segment: Segment): Segment {
  if (segment.type !== "tool") return segment
  const { app: _app, ...call } = segment
  return call
}
