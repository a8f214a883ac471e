/** join-text.ts: joins the text of a continued answer with the text that the model adds. Pure. Source: SPEC WR2. */

import type { Message, Part } from "../../../shared/protocol/message.ts"
import { splitCode } from "../../../shared/text/code-tracker.ts"
import type { ModelEvent } from "../../model/model-adapter.ts"

/** Returns the open text with which an answer continues; null if the last step of the answer is finished. */
export function findOpenText({ parts }: Pick<Message, "parts">): Extract<Part, { type: "text" }> | null {
  const last = parts.at(-1)
  return last?.type === "text" && last.open && last.text.trim() !== "" ? last : null
}

/** Whether a text ends within code. */
export function isInCode(text: string): boolean {
  // Inline code is only recognised once it is closed, so the end of closed code is outside.
  const last = splitCode(text).at(-1)
  return last?.code === true && /^[ \t>*+\-\d.)]*(?:`{3,}|~{3,})/.test(last.text) && !isClosedFence(last.text)
}

function isClosedFence(code: string): boolean {
  const lines = code.trimEnd().split("\n")
  return lines.length > 1 && /^[ \t>]*(?:`{3,}|~{3,})[ \t]*$/.test(lines.at(-1) ?? "")
}

/**
 * Returns the first text that the model adds, as it follows `shown`: without a second space where they meet, or with a
 * space if it is missing after punctuation. Code is left as it is.
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
    // Whitespace alone is dropped, and the next delta follows the text.
    isJoined = delta !== ""
    if (isJoined) yield { ...event, delta }
  }
}

/** Whether a text begins in a script that is written without spaces. */
function isUnspaced(text: string): boolean {
  return /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(text)
}
