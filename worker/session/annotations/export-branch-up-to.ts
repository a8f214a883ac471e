/** export-branch-up-to.ts: exports a copy of a session up to a message. Source: SPEC WR40. Loaded on demand. */

import { type Result, succeed } from "../../../shared/fault.ts"
import type { BranchExport } from "../../platform/rpc/session-types.ts"
import { exportBranch } from "../../transfer/branch-export.ts"
import type { LiveSession } from "../live-session.ts"
import { findBranchPoint } from "./branch-point.ts"

/**
 * Exports the copy. `keepAlive` gets a promise that resolves when the whole copy has been made. Errors: those of
 * `findBranchPoint`.
 */
export async function exportBranchUpTo(
  session: LiveSession,
  message: string,
  keepAlive: (done: Promise<unknown>) => void,
): Promise<Result<BranchExport>> {
  const point = findBranchPoint(session.store, message)
  if (!point.ok) return point
  const { lines, done } = exportBranch(session, await session.deriveSealKey(), point.value)
  keepAlive(done)
  const { row, store } = session
  const title = store.readSession()?.title ?? ""
  return succeed({ title, agent: session.agentName(), isTemporary: row.erasesAt !== null, lines })
}
