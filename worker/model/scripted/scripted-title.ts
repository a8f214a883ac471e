/** scripted-title.ts: the titles that the offline model gives to conversations, and the questions that it suggests. */

import type { ModelMessage } from "../model-adapter.ts"

/** The words at the start of a question, before its subject. */
const OPENING =
  /^(?:please |can you |could you |tell me |show me )*(?:what's|what is|what are|how is|how are|make|draw|paint|write|say)? ?(?:the |an? )?/i
const MAX_WORDS = 6

/** Returns the subject of the first question. */
export function writeTitle([question]: readonly ModelMessage[]): string {
  const text = question?.role === "user" ? question.content.replace(/\s+/g, " ").trim() : ""
  const words = text.replace(OPENING, "").split(" ").slice(0, MAX_WORDS)
  const subject = words.join(" ").replace(/[?!.,:;]+$/, "")
  return subject.charAt(0).toUpperCase() + subject.slice(1)
}

/** Returns suggested questions about the question's subject, as JSON. */
export function writeFollowUps(messages: readonly ModelMessage[]): string {
  const subject = writeTitle(messages)
  const isWeather = /\bweather|umbrella|rain\b/i.test(subject)
  const follow_ups = isWeather
    ? ["And tomorrow?", "Do I need an umbrella?", "Draw the temperatures as a chart"]
    : [`Tell me more about ${subject}`, "Summarise that in one sentence", "What can you do?"]
  return JSON.stringify({ follow_ups })
}
