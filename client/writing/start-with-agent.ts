/** start-with-agent.ts: chooses the agent with which the next conversation starts. */

import { focusRequests } from "../ui/focus.ts"
import type { WritingHost } from "./writing-host.ts"

/** Moves the text to a new conversation with the agent, unless this one is new. */
export function startWithAgent(host: WritingHost, agent: string, text: string): void {
  host.nextOptions.value = { ...host.nextOptions.peek(), agent }
  const isNew = host.controller.peek() === null
  host.draft.text.value = isNew ? text : ""
  if (isNew) return
  host.showSession(null)
  // The draft of the new conversation may already have a text.
  host.draft.restoreText(text)
  focusRequests.value++
}
