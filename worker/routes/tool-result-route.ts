/**
 * tool-result-route.ts: `POST /tool-results/:tenant/:session/:tool/:call`: receives the result of a call that a
 * tenant's service has accepted with 202. The signature is the only access check. Source: SPEC TW5, TW10.
 */

import type { Context } from "hono"
import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_RESULT_BYTES } from "../../shared/limits.ts"
import { countUp, createRateFault } from "../limits/rate-limits.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { checkRegion } from "../platform/media-bucket.ts"
import { readBounded } from "../platform/read-bounded.ts"
import { sessionStub, tenantStub } from "../platform/rpc/object-stubs.ts"
import { tenantIdSchema } from "../platform/tenant-id.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import { webhookNameSchema } from "../settings/webhooks/webhook-tool.ts"
import { verifySignature } from "../webhook/webhook-signature.ts"
import * as v from "valibot"
import { readLimitAddress } from "./access/request-actor.ts"
import type { AppEnv } from "./request-body.ts"

type ResultContext = Context<AppEnv, "/tool-results/:tenant/:session/:tool/:call">

/** A session's key: its public id, followed by a dot and the user's id if another user had taken the public id. */
const SESSION_KEY = /^[\w-]{1,64}(?:\.[\w-]{1,128})?$/
const CALL_ID = /^[\w-]{1,128}$/
const DELIVERY_ID = /^call_[0-9a-f]{32}$/
const MAX_SIGNATURE_CHARS = 1_000

export async function receiveToolResult(context: ResultContext): Promise<Response> {
  const received = await acceptResult(context)
  return received.ok ? context.json({}, 202) : faultToResponse(received.fault)
}

async function acceptResult(context: ResultContext): Promise<Result<null>> {
  const { env, req } = context
  const { tenant, session, tool, call: call_id } = req.param()
  const isWellFormed = SESSION_KEY.test(session) && CALL_ID.test(call_id) && v.is(webhookNameSchema, tool)
  if (!isWellFormed || !v.is(tenantIdSchema, tenant) || !checkRegion(env, tenant).ok) return refuse("result_unexpected")
  const address = readLimitAddress(context)
  if (!(await countUp(env.RATE_WRITE, `result ${tenant} ${address ?? ""}`)))
    return fail(createRateFault("write", "tenant"))
  const id = req.header("webhook-id") ?? ""
  const timestamp = Number(req.header("webhook-timestamp") ?? "")
  const signatures = req.header("webhook-signature") ?? ""
  if (!DELIVERY_ID.test(id) || !Number.isInteger(timestamp) || signatures.length > MAX_SIGNATURE_CHARS)
    return refuse("result_unverified")
  const body = await readResult(context)
  if (!body.ok) return body
  const endpoint = await tenantStub(env, tenant).openWebhook(tool, true)
  const now = Math.floor(Date.now() / 1000)
  if (
    endpoint === null ||
    !(await verifySignature(endpoint.secrets, { id, timestamp, body: body.value }, signatures, now))
  )
    return refuse("result_unverified")
  return await sessionStub(env, tenant, session).acceptToolResult({ tool, call_id, id, text: body.value })
}

async function readResult({ env, req }: ResultContext): Promise<Result<string>> {
  const signal = AbortSignal.timeout(readTimeLimits(env).bodyMs)
  const bytes = await readBounded(req.raw.body, MAX_RESULT_BYTES, signal).catch(() => undefined)
  if (bytes === undefined) return fail({ reason: "body_stalled" })
  if (bytes === null) return fail({ reason: "body_too_large", max: MAX_RESULT_BYTES })
  const text = new TextDecoder().decode(bytes)
  return parseJson(text) === undefined ? refuse("body_malformed") : succeed(text)
}

function refuse(reason: Extract<Fault["reason"], "result_unexpected" | "result_unverified" | "body_malformed">) {
  return fail({ reason })
}
