/**
 * rate-wait.ts: holds back a client's requests while the server is rate limiting the client. Loaded on first use.
 *
 * 429 with Retry-After → WAIT → requests, uploads, sockets, resent frames
 * Source: SPEC LI6.
 */

import { parseJson } from "../../shared/json.ts"
import { parseRefusal } from "../../shared/protocol/responses.ts"
import { RATE_PERIOD_SECONDS } from "../../shared/user-limits.ts"
import { wordFault } from "../words/page-text.ts"
import { rateWaitText } from "../words/rate-wait-text.ts"
import type { RequestHold } from "./request-hold.ts"

/** The longest `Retry-After` that the page waits for, in seconds. A request that would have to wait longer fails. */
const MAX_WAIT_SECONDS = 60
/**
 * A random time is added to the wait, up to this share of the wait, because other tabs and users may also be waiting.
 */
const JITTER_SHARE = 0.3

/** A response, to a request or to an upload, that may ask the page to wait. */
export type Refusable = Response | UploadResponse

interface UploadResponse {
  readonly status: number
  readonly text: string
  /** The `Retry-After` header. */
  readonly retryAfter?: string | null
}

/** Retries a rate-limited request or upload until a response no longer asks for a wait, and returns that response. */
export async function repeatRefused<T extends Refusable>(
  hold: RequestHold,
  refused: T,
  send: () => Promise<T>,
): Promise<T> {
  let response = refused
  while (await waitAfter(hold, response)) response = await send()
  return response
}

/**
 * Handles a rate-limited frame or a refused socket. After a rate-limited frame, waits and then calls `resend` once for
 * all such frames. The text for a refused socket is shown until a socket is accepted; socket-link.ts opens the next
 * one.
 */
export async function holdFrames(hold: RequestHold, code: string, text: string, resend: () => void): Promise<void> {
  if (code !== "rate_limited") {
    hold.text.value = rateWaitText.waiting(text)
    return
  }
  if (hold.resends.has(resend)) return
  hold.resends.add(resend)
  await beginWait(hold, code, text, RATE_PERIOD_SECONDS)
  hold.resends.delete(resend)
  resend()
}

/**
 * If the response asks for a wait, waits, or joins the wait in progress, and returns true. Otherwise returns false
 * without waiting.
 */
async function waitAfter(hold: RequestHold, response: Refusable): Promise<boolean> {
  const isRequest = "headers" in response
  const seconds = Number(isRequest ? response.headers.get("retry-after") : response.retryAfter)
  if (response.status !== 429 || !(seconds > 0 && seconds <= MAX_WAIT_SECONDS)) return false
  const body = isRequest ? await response.clone().text() : response.text
  const refusal = parseRefusal(parseJson(body))
  await beginWait(hold, refusal.code, wordFault(refusal.code, refusal.text ?? "", refusal.fields), seconds)
  return true
}

async function beginWait(hold: RequestHold, code: string | null, text: string, seconds: number): Promise<void> {
  if (hold.end === null) {
    hold.text.value = code === "rate_limited" ? rateWaitText.limited(seconds) : rateWaitText.waiting(text)
    hold.end = new Promise((resolve) => {
      const endWait = (): void => {
        hold.end = null
        hold.text.value = ""
        resolve()
      }
      setTimeout(endWait, seconds * 1000 * (1 + JITTER_SHARE * Math.random()))
    })
  }
  await hold.end
}
