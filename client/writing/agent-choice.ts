/** agent-choice.ts: the items of the tools menu that choose the agent of a new conversation. Source: SPEC WR31. */

import { useEffect } from "preact/hooks"
import type { MenuItem } from "../ui/popup-menu.tsx"
import { writingText } from "../words/writing-text.ts"
import { listedAgents } from "./prompt-store.ts"
import { startWithAgent } from "./start-with-agent.ts"
import { isChoosingAgent, menuAnchor } from "./tools-state.ts"
import type { WritingHost } from "./writing-host.ts"

/** The item that opens the list. It is offered if the tenant has several agents, which are loaded with the menu. */
export function useAgentItem(host: WritingHost): MenuItem[] {
  const isOpen = menuAnchor.value !== null
  useEffect(() => {
    if (isOpen) void listedAgents.ensure(host.api)
    else isChoosingAgent.value = false
  }, [isOpen])
  if ((listedAgents.entries.value?.length ?? 0) < 2) return []
  const openList = (): void => {
    isChoosingAgent.value = true
  }
  return [{ label: writingText.chooseAgent, staysOpen: true, onSelect: openList }]
}

/** One item for each agent. In an open conversation, the choice starts a new one with the text of this one's draft. */
export function listAgentItems(host: WritingHost): MenuItem[] {
  const agents = listedAgents.entries.value ?? []
  return agents.map(({ name }) => ({
    label: name,
    onSelect: () => startWithAgent(host, name, host.draft.text.peek()),
  }))
}
