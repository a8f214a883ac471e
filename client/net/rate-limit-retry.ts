/**
 * rate-limit-retry.ts: retries rate-limited requests and frames after a wait. The code that waits is loaded on first
 * use.
 */

import type { BudgetRefusal } from "../words/budget-text.ts"
import type { Refusable } from "./rate-wait.ts"
import type { RequestHold } from "./request-hold.ts"

/** Sends a request or an upload, and retries it after waiting if the response says so. */
export async function sendWithRateLimitRetry<T extends Refusable>(
  hold: RequestHold,
  send: () => Promise<T>,
): Promise<T> {
  const response = await send()
  return response.status === 429 ? await (await import("./rate-wait.ts")).repeatRefused(hold, response, send) : response
}

/**
 * Returns the text of a budget refusal, with the time in the user's time zone; the server's text if the code can't be
 * loaded.
 */
export async function wordRefusal(refusal: BudgetRefusal): Promise<string> {
  const code = await import("../words/budget-text.ts").catch(() => null)
  return code?.describeExhausted(refusal) ?? refusal.text
}

/** Handles a frame or a socket that a server limit refused. `resend` is called after the wait, if there is one. */
export async function holdFrames(hold: RequestHold, code: string, text: string, resend: () => void): Promise<void> {
  await (await import("./rate-wait.ts")).holdFrames(hold, code, text, resend)
}
