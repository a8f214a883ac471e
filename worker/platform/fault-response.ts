/**
 * fault-response.ts: how routes take bodies, and how they say faults and errors.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_BODY_BYTES } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import type { Claims } from "../auth/verify-token.ts"

/** What every route's context carries. `claims` is set behind `requireToken`. */
export type AppEnv = { Bindings: Env; Variables: { claims: Claims } }

/** Another tenant's session has another name: it cannot be reached with this token. */
export function getSessionStub(env: Env, claims: Claims, id: string) {
  return v.is(idSchema, id) ? env.SESSION.getByName(`${claims.tenant}:${id}`) : null
}

export function faultToResponse(fault: Fault): Response {
  const { code, text, status } = faultToWire(fault)
  return Response.json({ code, text }, { status })
}

/** A thrown error is our own mistake: the log gets all of it, in one line, and the client none. */
export function errorToResponse(error: Error, context: Context<AppEnv>): Response {
  const { message, stack } = error
  const { method, path } = context.req
  console.error(JSON.stringify({ event: "route_error", method, path, message, stack }))
  return faultToResponse({ reason: "internal" })
}

/**
 * Reads a JSON body of a known shape, counting bytes as they come: a length that is not true helps nobody.
 *
 * Errors  `body_too_large`, `body_malformed`, `field_invalid` with the field. An empty body is `{}`.
 */
export async function readBody<T>(context: Context<AppEnv>, schema: v.GenericSchema<unknown, T>): Promise<Result<T>> {
  const body = await readBodyText(context.req.raw.body)
  if (!body.ok) return body
  const value = parseJson(body.value === "" ? "{}" : body.value)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail({ reason: "body_malformed" })
  const parsed = v.safeParse(schema, value, { abortEarly: true })
  if (parsed.success) return succeed(parsed.output)
  return fail({ reason: "field_invalid", field: v.getDotPath(parsed.issues[0]) ?? "body" })
}

async function readBodyText(body: ReadableStream<Uint8Array> | null): Promise<Result<string>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the stream: what is still to come is not read.
    if (bytes > MAX_BODY_BYTES) return fail({ reason: "body_too_large", max: MAX_BODY_BYTES })
    chunks.push(chunk)
  }
  const text = decodeUtf8(chunks)
  return text === null ? fail({ reason: "body_malformed" }) : succeed(text)
}

/** The text of some bytes; null where they are no UTF-8. */
function decodeUtf8(chunks: readonly Uint8Array[]): string | null {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false })
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode()
  } catch {
    return null
  }
}
