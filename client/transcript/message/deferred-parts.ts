/**
 * deferred-parts.ts: the buttons, notes and quotes of messages, loaded after the transcript or when the first of them
 * is rendered.
 */

import type { Segment } from "../../../shared/protocol/segment.ts"
import { deferModule } from "../../ui/deferred-module.ts"

/** The style sheet reserves space for the buttons; the notes and the quotes have placeholders of the same height. */
export const messageParts = deferModule(() => import("./message-parts.ts"))

/** Returns the text of an answer, for the announcer. Resolves with "" if the code can't be loaded. */
export async function readSpokenText(segments: readonly Segment[]): Promise<string> {
  await messageParts.load()
  return messageParts.module.peek()?.segmentsToSpokenText(segments) ?? ""
}
