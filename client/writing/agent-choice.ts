/** agent-choice.ts: the items of the tools menu that choose the agent of a new conversation. Source: SPEC WR31. */

import { useEffect } from "preact/hooks"
import type { MenuItem } from "../ui/popup-menu.tsx"
import { writingText } from "../words/writing-text.ts"
import { listedAgents } from "./prompt-store.ts"
import { startWithAgent } from "./start-with-agent.ts"
import { isChoosingAgent, menuAnchor } from "./tools-state.ts"
import type { WritingHost } from "./writing-host.ts"

/**
 * Returns the item that opens the list of agents, if the tenant has several. The agents are loaded when the menu is
 * opened.
 */
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

/**
 * Returns one item per agent. In an open conversation, choosing an agent starts a new conversation with the text of the
 * current draft.
 */
export function listAgentItems(host: WritingHost): MenuItem[] {
  const agents = listedAgents.entries.value ?? []
  return agents.map(({ name }) => ({
    label: name,
    onSelect: () => startWithAgent(host, name, host.draft.text.peek()),
  }))
}
