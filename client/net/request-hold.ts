/**
 * request-hold.ts: whether the page waits, because the server refuses more requests. What begins and ends a wait is loaded with
 * the first refusal (rate-wait.ts). The page has one server, so this is a state of the module.
 */

import { type Signal, signal } from "@preact/signals"
import type { Refusable } from "./rate-wait.ts"

/** What the page says while the server refuses more requests; otherwise empty. */
export const holdText: Signal<string> = signal("")

/** `end` resolves when requests may be sent; null: now. */
export const hold: { end: Promise<void> | null } = { end: null }

/** Sends a request or an upload, and repeats it if its response asks for a wait. */
export async function sendPatiently<T extends Refusable>(send: () => Promise<T>): Promise<T> {
  const response = await send()
  return response.status === 429 ? await (await import("./rate-wait.ts")).repeatRefused(response, send) : response
}

/** Handles a frame or a socket that a limit of the server refused. `resend` is called after the wait, if there is one. */
export async function holdFrames(code: string, text: string, resend: () => void): Promise<void> {
  await (await import("./rate-wait.ts")).holdFrames(code, text, resend)
}
