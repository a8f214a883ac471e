/**
 * call-views.tsx: chooses the view of a tool call or of a message from another agent. Loaded on demand. SPEC PG10,
 * PG37.
 */

import type { VNode } from "preact"
import type { Segment } from "../../../shared/protocol/segment.ts"
import { AgentCallView, isAgentCall, ReceivedMessageView } from "../agent-exchange.tsx"
import { ToolView } from "../tool-call.tsx"

export { AgentHeader } from "../agent-exchange.tsx"
export { ToolAnnouncer } from "./tool-announcer.ts"
export { groupCalls, ToolCallGroup } from "../tool-call-group.tsx"

export type CallSegment = Extract<Segment, { type: "tool" | "agent" }>

interface CallViewProps {
  readonly segment: CallSegment
  readonly messageId: string
}

export function CallView({ segment, messageId }: CallViewProps): VNode {
  if (segment.type === "agent") return <ReceivedMessageView segment={segment} />
  if (isAgentCall(segment)) return <AgentCallView tool={segment} messageId={messageId} />
  return <ToolView tool={segment} messageId={messageId} />
}
