/** patient-sending.ts: repeats requests and frames that a limit refused, after a wait. The code for it is loaded with the first refusal. */

import type { Refusable } from "./rate-wait.ts"

/** Sends a request or an upload, and repeats it if its response asks for a wait. */
export async function sendPatiently<T extends Refusable>(send: () => Promise<T>): Promise<T> {
  const response = await send()
  return response.status === 429 ? await (await import("./rate-wait.ts")).repeatRefused(response, send) : response
}

/** Handles a frame or a socket that a limit of the server refused. `resend` is called after the wait, if there is one. */
export async function holdFrames(code: string, text: string, resend: () => void): Promise<void> {
  await (await import("./rate-wait.ts")).holdFrames(code, text, resend)
}
