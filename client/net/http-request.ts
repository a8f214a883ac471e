/** http-request.ts: creates JSON requests and parses responses. A refusal becomes an error with the server's text. */

import type { FaultFields } from "../../shared/fault.ts"
import { parseRefusal } from "../../shared/protocol/responses.ts"
import { errorText, wordFault } from "../words/page-text.ts"

/**
 * The status of the error for a response that can't be parsed. Such an error is treated as temporary, so the request is
 * retried.
 */
const UNREADABLE_STATUS = 502

/** The error for a request that the server refused. The message is the server's text. */
export class RequestError extends Error {
  readonly status: number
  /** Null if the refusal didn't come from the Cuecard server. */
  readonly code: string | null
  /** The values that the text contains. */
  readonly fields: FaultFields
  constructor(status: number, text: string, code: string | null = null, fields: FaultFields = {}) {
    super(text)
    this.status = status
    this.code = code
    this.fields = fields
  }
}

/**
 * Returns whether a retry is pointless. After a 401, a retry with a new token may succeed; after a 408 or 429, a later
 * retry.
 */
export function isPermanentRefusal({ status }: RequestError): boolean {
  return status < 500 && ![401, 408, 429].includes(status)
}

/** Returns the text to show for a failed request, in the language of the page. */
export function describeError(error: unknown): string {
  return error instanceof RequestError ? wordFault(error.code, error.message, error.fields) : errorText.unreachable
}

export function createJsonRequest(method: string, body: object): RequestInit {
  return { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
}

export async function parseBody<T>(response: Response, parse: (value: unknown) => T | null): Promise<T> {
  const body = parse(await readJson(response))
  if (body === null) throw new RequestError(UNREADABLE_STATUS, errorText.badResponse)
  return body
}

/**
 * Returns the body as JSON, or null if it isn't JSON. Throws RequestError with the server's text if the request was
 * refused.
 */
export async function readJson(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return body
  throw toRequestError(response.status, body)
}

/** Returns the error for a refused request whose response has this body. */
export function toRequestError(status: number, body: unknown): RequestError {
  const { code, text, fields } = parseRefusal(body)
  return new RequestError(status, text ?? errorText.status(status), code, fields)
}
