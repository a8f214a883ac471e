/**
 * listener-routes.ts: lets a program wait for questions to an external agent, and gives the program a token for
 * answering each one. Source: SPEC EA4.
 */

import * as v from "valibot"
import { MAX_LISTEN_MS, QUESTION_TOKEN_SECONDS } from "../../../shared/listener-limits.ts"
import { issueNewToken } from "../../auth/new-token.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { sessionStub, tenantStub } from "../../platform/rpc/object-stubs.ts"
import { keyToPublicId } from "../../platform/session-key.ts"
import { agentNameSchema } from "../../settings/agent-config.ts"
import type { OpenQuestion } from "../../settings/question-rpc.ts"
import type { Env } from "../../env.ts"
import { type AppEnv, readQuery } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

/** Maximum number of questions that one request skips because they have already been answered or stopped. */
const MAX_SKIPPED = 20

/** `wait` is in seconds. */
const waitSchema = v.object({
  wait: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,2}$/), v.transform(Number), v.maxValue(MAX_LISTEN_MS / 1000)),
    "0",
  ),
})

export const listenerRoutes = createHono<AppEnv>()

listenerRoutes.get("/:name/question", async (context) => {
  const name = v.safeParse(agentNameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "agent_unknown" })
  const query = readQuery(context, waitSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { tenant } = context.get("claims")
  const view = await tenantStub(context.env, tenant).getAgentView(name.output)
  if (view?.self.answered_by !== "program") return faultToResponse({ reason: "agent_unknown" })
  const endsMs = Date.now() + query.value.wait * 1000
  for (let skipped = 0; skipped < MAX_SKIPPED; skipped++) {
    const waitMs = Math.max(endsMs - Date.now(), 0)
    const question = await tenantStub(context.env, tenant).takeQuestion(name.output, waitMs)
    if (question === null) break
    const claimed = await claimQuestion(context.env, tenant, question)
    if (claimed !== null) return context.json({ question: claimed })
  }
  return context.json({ question: null })
})

/** Returns what the program needs to answer the question; null if the question is no longer open. */
async function claimQuestion(env: Env, tenant: string, { id, agent, user, session }: OpenQuestion) {
  const claimed = await sessionStub(env, tenant, session).claimQuestion({ tenant, user }, id)
  if (!claimed.ok) return null
  const publicId = keyToPublicId(session)
  const claims = { tenant, user, scope: "external", session: publicId } as const
  const { token, expires } = await issueNewToken(env, claims, QUESTION_TOKEN_SECONDS, Date.now())
  return { id, agent, session: publicId, user, text: claimed.value.text, token, expires }
}
