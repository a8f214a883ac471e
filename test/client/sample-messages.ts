/** sample-messages.ts: messages and calls for tests of the transcript. */

import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { wireMessage } from "./fake-server.ts"

export const text = (content: string): Segment => ({ type: "text", content })
export const user = (id: string, content: string, more: Partial<WireMessage> = {}) =>
  wireMessage(id, { role: "user", status: "completed", segments: [text(content)], content, ...more })
export const answer = (id: string, more: Partial<WireMessage> = {}) =>
  wireMessage(id, { status: "completed", exchange_id: "q", segments: [text("yes")], ...more })
export const call = (more: Partial<Extract<Segment, { type: "tool" }>> = {}): Segment => ({
  type: "tool",
  call_id: "c1",
  name: "probe_ask",
  args: '{"text":"now"}',
  status: "waiting",
  approval: "asked",
  ...more,
})
