/** branch-route.ts: creates a session that contains a copy of another session up to a message. Source: SPEC WR40. */

import type { Context } from "hono"
import { nanoid } from "nanoid"
import * as v from "valibot"
import { isAgentSession } from "../../../shared/protocol/agent-session-id.ts"
import { idSchema } from "../../../shared/protocol/event.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { directoryStub, sessionStub } from "../../platform/rpc/object-stubs.ts"
import { createOwnSession } from "../access/require-session.ts"
import { type AppEnv, readBody } from "../request-body.ts"

/** If the client chooses the id, repeating the request has no effect. */
const branchSchema = v.object({
  message: idSchema,
  id: v.optional(
    v.pipe(
      idSchema,
      v.check((id) => !isAgentSession(id)),
    ),
  ),
})

/** The whole copy is imported as one file. */
const WHOLE_COPY = { part: 1, of: 1 }

export async function branchSession(context: Context<AppEnv>): Promise<Response> {
  const body = await readBody(context, branchSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { message, id = nanoid() } = body.value
  const { env } = context
  const claims = context.get("claims")
  const exported = await context.get("session").exportBranch(claims, message)
  if (!exported.ok) return faultToResponse(exported.fault)
  const { title, agent, isTemporary, lines } = exported.value
  const locationHint = context.get("locationHint")
  const options = { title, agent, isTemporary, created: Date.now(), locationHint }
  const created = await createOwnSession(env, claims, id, options)
  if (!created.ok) {
    await lines.cancel().catch(() => {})
    return faultToResponse(created.fault)
  }
  const imported = await sessionStub(env, claims.tenant, created.value, locationHint).import(claims, lines, WHOLE_COPY)
  if (imported.ok) return context.json({ id, title }, 201)
  // The new session would stay empty, so it is erased. A session that already has messages is another conversation with
  // this id, and is kept.
  if (imported.fault.reason !== "session_begun") {
    await sessionStub(env, claims.tenant, created.value).erase(claims)
    await directoryStub(env, claims).removeSession(created.value)
  }
  return faultToResponse(imported.fault)
}
