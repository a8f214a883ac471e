/**
 * request-body.ts: the context of the routes, and the parsing of request bodies and queries.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_BODY_BYTES } from "../../shared/limits.ts"
import { isJsonObject, parseJson } from "../../shared/json.ts"
import type { Env } from "../env.ts"
import type { Claims } from "../platform/rpc/claims.ts"
import { readBounded } from "../platform/read-bounded.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import type { SessionRpc } from "../platform/rpc/session-rpc.ts"

/**
 * The context of every route. `authorize` sets `claims` and `locationHint`; `requireSession` and similar middleware set
 * `session` and `sessionKey` (platform/session-key.ts).
 */
export type AppEnv = {
  Bindings: Env
  Variables: {
    claims: Claims
    session: DurableObjectStub<SessionRpc>
    sessionKey: string
    /** The location for objects that this request creates; undefined if unknown. */
    locationHint: DurableObjectLocationHint | undefined
    /** Set by `checkOrigin`: the origin of another site, which must be one of the tenant's embed_hosts. */
    widgetOrigin?: string
  }
}

type AppContext = Context<AppEnv>

/**
 * Matches `application/json` and types that are based on it. Other types are refused, because any site can send a form
 * or text/plain without a preflight request.
 */
export const JSON_TYPE = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/**
 * Reads a JSON body and checks it against a schema. An empty body is read as `{}` and needs no type. The bytes are
 * counted as they arrive, because Content-Length may be wrong or absent.
 *
 * Errors: `body_type_refused`, `body_too_large`, `body_stalled`, `body_malformed`, `field_invalid` with the field.
 */
export async function readBody<T>(context: AppContext, schema: v.GenericSchema<unknown, T>): Promise<Result<T>> {
  const text = await readBodyText(context)
  if (!text.ok) return text
  const value = text.value === "" ? {} : parseJson(text.value)
  if (!isJsonObject(value)) return fail({ reason: "body_malformed" })
  return parseFields(schema, value, "body")
}

/**
 * Reads a JSON body as text, without parsing it.
 *
 * Errors: `body_type_refused`, `body_too_large`, `body_stalled`; `body_malformed` if it is not valid UTF-8.
 */
export async function readBodyText(context: AppContext): Promise<Result<string>> {
  const bytes = await readBytes(context, MAX_BODY_BYTES)
  if (!bytes.ok) return bytes
  if (bytes.value.length > 0 && !JSON_TYPE.test(context.req.header("content-type") ?? ""))
    return fail({ reason: "body_type_refused" })
  const text = decodeUtf8(bytes.value)
  return text === null ? fail({ reason: "body_malformed" }) : succeed(text)
}

/** Reads a body within its size and time limits. Errors: `body_too_large`, `body_stalled`. */
export async function readBytes({ env, req }: AppContext, max: number): Promise<Result<Uint8Array>> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), readTimeLimits(env).bodyMs)
  try {
    const bytes = await readBounded(req.raw.body, max, abort.signal)
    return bytes === null ? fail({ reason: "body_too_large", max }) : succeed(bytes)
  } catch (error) {
    if (!abort.signal.aborted) throw error
    return fail({ reason: "body_stalled" })
  } finally {
    clearTimeout(timer)
  }
}

/** Parses the parameters of the query string. Errors: `field_invalid` with the parameter. */
export function readQuery<T>(context: AppContext, schema: v.GenericSchema<unknown, T>): Result<T> {
  return parseFields(schema, context.req.query(), "query")
}

/**
 * Parses an object. Errors: `field_invalid` with the path of the first bad field, or with `rootName` if the value
 * itself is bad.
 */
export function parseFields<T>(schema: v.GenericSchema<unknown, T>, value: unknown, rootName: string): Result<T> {
  const parsed = v.safeParse(schema, value, { abortEarly: true })
  if (parsed.success) return succeed(parsed.output)
  const fault: Fault = { reason: "field_invalid", field: v.getDotPath(parsed.issues[0]) ?? rootName }
  return fail(fault)
}

/** Decodes the bytes; null if they are not valid UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return null
  }
}
