/**
 * patient-sending.ts: waits and then repeats requests and frames that a rate limit refused. The code is loaded on the first
 * refusal.
 */

import type { BudgetRefusal } from "../words/budget-text.ts"
import type { Refusable } from "./rate-wait.ts"
import type { RequestHold } from "./request-hold.ts"

/** Sends a request or an upload, and repeats it if its response asks for a wait. */
export async function sendPatiently<T extends Refusable>(hold: RequestHold, send: () => Promise<T>): Promise<T> {
  const response = await send()
  return response.status === 429 ? await (await import("./rate-wait.ts")).repeatRefused(hold, response, send) : response
}

/** The text of a budget refusal, in the user's language and time zone. If its code can't be loaded, the server's text. */
export async function wordRefusal(refusal: BudgetRefusal): Promise<string> {
  const code = await import("../words/budget-text.ts").catch(() => null)
  return code?.describeExhausted(refusal) ?? refusal.text
}

/** Handles a frame or a socket that a server limit refused. `resend` is called after the wait, if there is one. */
export async function holdFrames(hold: RequestHold, code: string, text: string, resend: () => void): Promise<void> {
  await (await import("./rate-wait.ts")).holdFrames(hold, code, text, resend)
}
