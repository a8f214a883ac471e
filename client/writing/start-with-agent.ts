/** start-with-agent.ts: chooses the agent for the next conversation. */

import { focusRequests } from "../ui/focus.ts"
import type { WritingHost } from "./writing-host.ts"

/** Chooses the agent. If an existing conversation is open, opens a new one and moves the text there. */
export function startWithAgent(host: WritingHost, agent: string, text: string): void {
  host.nextOptions.value = { ...host.nextOptions.peek(), agent }
  const isNew = host.controller.peek() === null
  host.draft.text.value = isNew ? text : ""
  if (isNew) return
  host.showSession(null)
  // The draft of the new conversation may already contain text.
  host.draft.restoreText(text)
  focusRequests.value++
}
