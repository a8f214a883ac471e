/**
 * rate-wait.ts: holds the page's requests while the server refuses more of them. Loaded with the first refusal.
 *
 * 429 with Retry-After → WAIT → requests, uploads, sockets, resent frames
 * Source: SPEC LI6.
 */

import { RATE_PERIOD_SECONDS } from "../../shared/user-limits.ts"
import { parseJson } from "../../shared/json.ts"
import { parseRefusal } from "../../shared/protocol/responses.ts"
import { rateWaitText } from "../words/rate-wait-text.ts"
import type { SendFileResult } from "./send-file.ts"
import type { RequestHold } from "./request-hold.ts"

/** Longest `Retry-After` that is waited for, in seconds. A request that has to wait longer fails. */
const MAX_WAIT_SECONDS = 60
/** A random part of the wait is added, up to this share of it: other tabs and users wait, too. */
const JITTER_SHARE = 0.3

/** Repeats a refused request while its response asks for a wait. Returns the first response that does not. */
export async function repeatRequest(
  hold: RequestHold,
  refused: Response,
  send: () => Promise<Response>,
): Promise<Response> {
  let response = refused
  while (await waitAfter(hold, response.status, response.headers.get("retry-after"), await response.clone().text()))
    response = await send()
  return response
}

/** Like `repeatRequest`. */
export async function repeatUpload(
  hold: RequestHold,
  refused: SendFileResult,
  send: () => Promise<SendFileResult>,
): Promise<SendFileResult> {
  let response = refused
  while (await waitAfter(hold, response.status, response.retryAfter, response.text)) response = await send()
  return response
}

/**
 * Handles a refused frame or socket. After a refused frame it waits, and then calls `resend` once for all frames that were
 * refused. Why a socket was refused is shown until one is admitted; the link opens the next one anyway.
 */
export async function holdFrames(hold: RequestHold, code: string, text: string, resend: () => void): Promise<void> {
  if (code !== "rate_limited") {
    hold.text.value = rateWaitText.waiting(text)
    return
  }
  if (hold.resends.has(resend)) return
  hold.resends.add(resend)
  await beginWait(hold, text, RATE_PERIOD_SECONDS)
  hold.resends.delete(resend)
  resend()
}

/** Waits if a response asks for it, or as long as the page waits already. False at once if the response is final. */
async function waitAfter(
  hold: RequestHold,
  status: number,
  retryAfter: string | null | undefined,
  body: string,
): Promise<boolean> {
  const seconds = Number(retryAfter)
  if (status !== 429 || !(seconds > 0 && seconds <= MAX_WAIT_SECONDS)) return false
  await beginWait(hold, parseRefusal(parseJson(body)).text ?? "", seconds)
  return true
}

async function beginWait(hold: RequestHold, text: string, seconds: number): Promise<void> {
  if (hold.end === null) {
    hold.text.value = rateWaitText.waiting(text)
    hold.end = new Promise((resolve) => {
      const end = (): void => {
        hold.end = null
        hold.text.value = null
        resolve()
      }
      hold.setTimer(seconds * 1000 * (1 + JITTER_SHARE * hold.random()), end)
    })
  }
  await hold.end
}
