/** allowed-tools.ts: the tools whose calls run in a session without asking the user. Source: SPEC AP8 to AP10. */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import type { AllowedTool } from "../../../shared/protocol/writing/answer-usage.ts"
import { allowPendingCalls } from "../../turn/approvals.ts"
import type { LiveSession } from "../live-session.ts"

/**
 * Allows all later calls of a tool in this session, and those that are waiting now. Repeating the call has no effect.
 * Errors: `field_invalid` if the session's agent has no such tool, or if the tool's calls never need approval.
 */
export function allowTool(session: LiveSession, tool: string, nowMs: number): Result<readonly AllowedTool[]> {
  const { host, store, turns } = session
  const known = host.currentAgent().tools.find(({ name }) => name === tool)
  if (known?.needsApproval === undefined) return fail({ reason: "field_invalid", field: "tool" })
  store.toolGrants.add(tool, nowMs)
  allowPendingCalls(turns, tool)
  session.advance()
  return succeed(store.toolGrants.list())
}
