/**
 * read-input-required.ts: reads a result that asks for input (`input_required`), within bounds. Pure. SPEC MP30, MP36.
 *
 * Only forms are shown to the user. Requests to open a URL are declined, and requests for a model or for files are
 * refused, because the client declares support for neither.
 */

import { fail, type McpFlaw, type Result, succeed } from "../../../shared/fault.ts"
import { isJsonObject } from "../../../shared/json.ts"
import type { InputRequest, StoredInput } from "../../store/callbacks/call-inputs.ts"
import { readForm } from "./read-form.ts"

/** Maximum number of requests in one result. They are shown one after the other. */
const MAX_REQUESTS = 4
/** In UTF-16 code units. */
const MAX_STATE_CHARS = 64 * 1024
const MAX_KEY_CHARS = 128

/** Reads a result. `round`: how often the call has asked, including this result. */
export function readInputRequired(
  { inputRequests, requestState }: { readonly [key: string]: unknown },
  server: string,
  round: number,
): Result<StoredInput, McpFlaw> {
  const state = typeof requestState === "string" ? requestState : null
  if ((state?.length ?? 0) > MAX_STATE_CHARS) return fail("too_large")
  const entries = isJsonObject(inputRequests) ? Object.entries(inputRequests) : []
  if (entries.length > MAX_REQUESTS) return fail("too_many")
  const requests: InputRequest[] = []
  for (const [n, [key, request]] of entries.entries()) {
    if (key.length > MAX_KEY_CHARS) return fail("too_large")
    const read = readRequest(key, request, `${round}-${n + 1}`, server)
    if (!read.ok) return read
    requests.push(read.value)
  }
  return succeed({ round, requests, state })
}

function readRequest(key: string, request: unknown, id: string, server: string): Result<InputRequest, McpFlaw> {
  if (!isJsonObject(request) || request["method"] !== "elicitation/create") return fail("input")
  const { params } = request
  if (!isJsonObject(params) || key === "__proto__") return fail("input")
  const { mode = "form" } = params
  if (mode === "url") return succeed({ key, form: null, answer: { action: "decline" } })
  if (mode !== "form") return fail("input")
  const form = readForm(params, id, server)
  return form.ok ? succeed({ key, form: form.value, answer: null }) : form
}
