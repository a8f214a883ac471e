/** scripted-continuation.ts: lets the scripted model continue an answer that was cut off. */

import { cutText } from "../../../shared/text/cut-text.ts"
import type { ModelEvent, ModelMessage } from "../model-adapter.ts"
import { CONTINUE_NOTE } from "../system-prompt.ts"

/** Returns the messages without the note that asks for the rest of an answer, and the answer's text so far. */
export function splitContinuation(messages: readonly ModelMessage[]): {
  readonly messages: readonly ModelMessage[]
  readonly shown: string
} {
  const [answer, note] = messages.slice(-2)
  if (note?.role !== "user" || note.content !== CONTINUE_NOTE || answer?.role !== "assistant") {
    return { messages, shown: "" }
  }
  const texts = answer.parts.flatMap((part) => (part.type === "text" ? part.text : []))
  return { messages: messages.slice(0, -1), shown: texts.join("") }
}

/** Removes all thinking, and the text that `shown` already contains. If `shown` is empty, removes nothing. */
export function skipShownText(events: readonly ModelEvent[], shown: string): readonly ModelEvent[] {
  if (shown === "") return events
  let rest = shown
  return events.flatMap((event) => {
    if (event.type === "thinking_delta") return []
    if (event.type !== "text_delta" || rest === "") return [event]
    const common = countCommonChars(event.delta, rest)
    rest = rest.slice(common)
    const delta = event.delta.slice(cutText(event.delta, common).length)
    return delta === "" ? [] : [{ ...event, delta }]
  })
}

function countCommonChars(text: string, other: string): number {
  let count = 0
  while (count < text.length && count < other.length && text[count] === other[count]) count += 1
  return count
}
