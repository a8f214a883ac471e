/**
 * answer.ts: how routes take bodies and say faults.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/frame.ts"
import { MAX_BODY_BYTES } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import type { Claims } from "../tenant/keys.ts"

/** What every route's context carries. `claims` is set behind `requireClaims`. */
export type App = { Bindings: Env; Variables: { claims: Claims } }

export function answerFault(fault: Fault): Response {
  const { code, text, status } = faultToWire(fault)
  return Response.json({ code, text }, { status })
}

/**
 * Reads a JSON body of a known shape, counting bytes as they come: a length that is not true helps nobody.
 *
 * Errors  `body_too_large`, `body_malformed`, `field_invalid` with the field. An empty body is `{}`.
 */
export async function readBody<T>(context: Context<App>, schema: v.GenericSchema<unknown, T>): Promise<Result<T>> {
  const text = await readText(context.req.raw.body)
  if (text === null) return fail({ reason: "body_too_large", max: MAX_BODY_BYTES })
  const value = parseJson(text === "" ? "{}" : text)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail({ reason: "body_malformed" })
  const parsed = v.safeParse(schema, value, { abortEarly: true })
  if (parsed.success) return succeed(parsed.output)
  return fail({ reason: "field_invalid", field: v.getDotPath(parsed.issues[0]) ?? "body" })
}

async function readText(body: ReadableStream<Uint8Array> | null): Promise<string | null> {
  if (body === null) return ""
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > MAX_BODY_BYTES) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
