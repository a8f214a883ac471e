/** feedback-route.ts: administrators read the counts of feedback on their agents' answers. Source: SPEC WR13. */

import type { Context } from "hono"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import type { AppEnv } from "../request-body.ts"

export async function readFeedbackCounts(context: Context<AppEnv>): Promise<Response> {
  const counts = await tenantStub(context.env, context.get("claims").tenant).listFeedbackCounts()
  return context.json({ counts: [...counts] })
}
