/** http-request.ts: JSON requests and their responses. A refusal becomes an error with the server's text. */

import { parseRefusal } from "../../shared/protocol/responses.ts"
import { errorText } from "../words/page-text.ts"

/** The status reported for a response that can't be parsed. It is the status of a bad gateway, so the request is retried. */
const UNREADABLE_STATUS = 502

/** The server refused a request. The message is the server's text. */
export class RequestError extends Error {
  readonly status: number
  /** Null if the refusal didn't come from our server. */
  readonly code: string | null
  constructor(status: number, text: string, code: string | null = null) {
    super(text)
    this.status = status
    this.code = code
  }
}

/** Whether a retry is pointless. A 401 may succeed with a new token, a 408 or 429 after waiting. */
export function isPermanentRefusal({ status }: RequestError): boolean {
  return status < 500 && ![401, 408, 429].includes(status)
}

/** The text to show for a failed request. */
export function describeError(error: unknown): string {
  return error instanceof RequestError ? error.message : errorText.unreachable
}

export function createJsonRequest(method: string, body: object): RequestInit {
  return { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
}

export async function parseBody<T>(response: Response, parse: (value: unknown) => T | null): Promise<T> {
  const body = parse(await readJson(response))
  if (body === null) throw new RequestError(UNREADABLE_STATUS, errorText.badResponse)
  return body
}

/** The body as JSON; null if it isn't JSON. Throws the server's text if the request was refused. */
export async function readJson(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return body
  throw toRequestError(response.status, body)
}

/** The error for a refused request with this body. */
export function toRequestError(status: number, body: unknown): RequestError {
  const { code, text } = parseRefusal(body)
  return new RequestError(status, text ?? errorText.status(status), code)
}
