/** client-error.ts: the errors of `cuecard/client`, each with a code. */

import type { FaultFields, FaultReason } from "../shared/fault.ts"
import { isPermanentRefusal, RequestError } from "../client/net/http-request.ts"

/**
 * Codes of errors that the server didn't report:
 * - `unreachable`: no response, or none in time. The request may have been carried out.
 * - `http_error`: a refusal without one of the server's codes, for example from a proxy. See `status`.
 * - `token_failed`: `getToken` rejected. `cause` is the error that it rejected with.
 * - `user_changed`: `getToken` returned a token for a different user than before. Create another client for that user.
 * - `command_pending`: the message or tool call has a command that the server hasn't answered.
 * - `aborted`: the caller's signal aborted the request.
 * - `discarded`: the message was discarded before the server had accepted it.
 * - `closed`: the client was closed.
 */
export type ClientErrorCode =
  | "unreachable"
  | "http_error"
  | "token_failed"
  | "user_changed"
  | "command_pending"
  | "aborted"
  | "discarded"
  | "closed"

interface ErrorDetails {
  readonly status?: number | null
  readonly fields?: FaultFields | undefined
  readonly cause?: unknown
}

export class CuecardError extends Error {
  /** One of the server's codes (SPEC §12), or a `ClientErrorCode`. */
  readonly code: FaultReason | ClientErrorCode
  /** The HTTP status; null if there was no response, and for refusals on the socket. */
  readonly status: number | null
  /** The values in the text, such as `max`, for callers that show errors in another language (SPEC §12). */
  readonly fields: FaultFields

  constructor(
    code: FaultReason | ClientErrorCode,
    text: string = code,
    { status = null, fields = {}, cause }: ErrorDetails = {},
  ) {
    super(text, cause === undefined ? {} : { cause })
    this.name = "CuecardError"
    this.code = code
    this.status = status
    this.fields = fields
  }
}

/** Returns the error to report for anything that a controller threw. */
export function toCuecardError(error: unknown): CuecardError {
  if (error instanceof CuecardError) return error
  if (error instanceof RequestError) {
    // The server's codes are a fixed list, but a newer server may have more codes.
    const code = (error.code ?? "http_error") as FaultReason | "http_error"
    return new CuecardError(code, error.message, { status: error.status, fields: error.fields, cause: error })
  }
  const isAborted = error instanceof Error && error.name === "AbortError"
  return new CuecardError(isAborted ? "aborted" : "unreachable", String(error), { cause: error })
}

/** Whether a retry is pointless until something else changes, such as the token. */
export function isFinal(error: unknown): boolean {
  if (error instanceof RequestError) return isPermanentRefusal(error) || error.status === 401
  return error instanceof CuecardError
}

/** Runs a controller's operation, and converts its errors to CuecardErrors. */
export async function withTypedErrors<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    throw toCuecardError(error)
  }
}
