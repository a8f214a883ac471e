/** start-with-agent.ts: chooses the agent with which the next conversation starts. */

import type { WritingHost } from "./writing-host.ts"

/** Moves the text to a new conversation with the agent, unless this one is new. */
export function startWithAgent(host: WritingHost, agent: string, text: string): void {
  host.nextOptions.value = { ...host.nextOptions.peek(), agent }
  const isNew = host.controller.peek() === null
  host.draft.text.value = isNew ? text : ""
  if (isNew) return
  // The page opens the new conversation in an earlier listener, and its draft may already have a text.
  addEventListener("hashchange", () => host.draft.restoreText(text), { once: true })
  location.hash = "#/"
}
