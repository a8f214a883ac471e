/** join-text.ts: joins the text of a continued answer with the text that the model adds. Pure. Source: SPEC WR2. */

import type { Message, Part } from "../../../shared/protocol/message.ts"
import { splitCode } from "../../../shared/text/code-tracker.ts"
import type { ModelEvent } from "../../model/model-adapter.ts"

/** Returns the open text from which an answer continues; null if the last step of the answer is finished. */
export function findOpenText({ parts }: Pick<Message, "parts">): Extract<Part, { type: "text" }> | null {
  const last = parts.at(-1)
  return last?.type === "text" && last.open && last.text.trim() !== "" ? last : null
}

/** Whether the text ends within code. */
export function isInCode(text: string): boolean {
  // Inline code is recognised only once it is closed, so only a fence can still be open at the end of the text.
  const last = splitCode(text).at(-1)
  return last?.code === true && /^[ \t>*+\-\d.)]*(?:`{3,}|~{3,})/.test(last.text) && !isClosedFence(last.text)
}

function isClosedFence(code: string): boolean {
  const lines = code.trimEnd().split("\n")
  return lines.length > 1 && /^[ \t>]*(?:`{3,}|~{3,})[ \t]*$/.test(lines.at(-1) ?? "")
}

/**
 * Adapts the first text that the model adds to `shown`, which it follows. Removes a second space where the two texts
 * meet, or adds one that is missing after punctuation. Code is left as it is.
 */
export function joinContinuation(shown: string, added: string): string {
  if (isInCode(shown)) return added
  if (/\s$/.test(shown)) return added.replace(/^\s+/, "")
  return /[,.;:!?]$/.test(shown) && /^[\p{L}\p{N}]/u.test(added) && !isUnspaced(added) ? ` ${added}` : added
}

/** Joins the first text of a model call to the text that it continues. */
export async function* joinText(events: AsyncIterable<ModelEvent>, shown: string): AsyncGenerator<ModelEvent> {
  let isJoined = false
  for await (const event of events) {
    if (isJoined || event.type !== "text_delta") {
      isJoined ||= event.type === "tool_call" || event.type === "thinking_delta"
      yield event
      continue
    }
    const delta = joinContinuation(shown, event.delta)
    // A delta that is only whitespace is dropped, and the next one is joined instead.
    isJoined = delta !== ""
    if (isJoined) yield { ...event, delta }
  }
}

/** Whether the text begins in a script that is written without spaces. */
function isUnspaced(text: string): boolean {
  return /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(text)
}
