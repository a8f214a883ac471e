/**
 * effort-choice.tsx: lets the user choose how much the model thinks about the next messages: an item in the tools menu,
 * and a chip above the message box. The choice is offered only if the agent has an effort. SPEC TM9.
 */

import { type Signal, signal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { EFFORT_CHOICES, type EffortChoice } from "../../shared/model-effort.ts"
import type { MenuItem } from "../ui/popup-menu.tsx"
import { focusRequests } from "../ui/focus.ts"
import { writingText } from "../words/writing-text.ts"
import { listedAgents } from "./prompt-store.ts"
import { menuAnchor } from "./tools-state.ts"
import { readSessionAgent } from "./writing-api.ts"
import type { WritingHost } from "./writing-host.ts"

/** The agent of a new conversation if the user hasn't chosen one. */
const DEFAULT_AGENT = "general"

/**
 * The conversation for which the choice is offered or, for a new conversation, its agent. Null if the choice isn't
 * offered.
 */
const offeredFor: Signal<string | null> = signal(null)

const keyOf = (host: WritingHost): string =>
  host.controller.value?.id ?? `@${host.nextOptions.value.agent ?? DEFAULT_AGENT}`

/** Returns whether the choice is offered. Requests the agent's effort when the menu is opened. */
export function useEffortOffer(host: WritingHost): boolean {
  const isOpen = menuAnchor.value !== null
  const key = keyOf(host)
  useEffect(() => {
    if (isOpen) void loadOffer(host, key).catch(() => {})
  }, [isOpen, key])
  return offeredFor.value === key
}

async function loadOffer(host: WritingHost, key: string): Promise<void> {
  const session = host.controller.peek()
  if (offeredFor.peek() === key) return
  if (session === null) await listedAgents.ensure(host.api)
  const agent = listedAgents.entries.peek()?.find(({ name }) => key === `@${name}`)
  const effort = session === null ? agent?.effort : (await readSessionAgent(host.api, session.id)).effort
  if (effort != null) offeredFor.value = key
}

/**
 * Creates the menu item. Each selection of the item chooses the next level. The menu stays open and shows the chosen
 * level.
 */
export function createEffortItem({ draft }: WritingHost): MenuItem {
  const levels: readonly (EffortChoice | null)[] = [null, ...EFFORT_CHOICES]
  const level = draft.effort.value
  return {
    label: writingText.effort(nameLevel(level)),
    staysOpen: true,
    onSelect: () => (draft.effort.value = levels[levels.indexOf(level) + 1] ?? null),
  }
}

/** The chosen effort, with a button that removes it. The choice belongs to the conversation in which it was made. */
export function ChosenEffort({ host }: { readonly host: WritingHost }): VNode | null {
  const { draft } = host
  const effort = draft.effort.value
  const session = host.controller.value?.id ?? null
  const earlier = useRef(session)
  useEffect(() => {
    // A new conversation gets its id with the first message.
    if (earlier.current !== null && earlier.current !== session) draft.effort.value = null
    earlier.current = session
  }, [session])
  if (effort === null) return null
  const removeEffort = (): void => {
    draft.effort.value = null
    focusRequests.value++
  }
  return (
    <div class="chip agent">
      <span class="what">
        <b>{writingText.effort(nameLevel(effort))}</b>
      </span>
      <button type="button" aria-label={writingText.noEffort} title={writingText.noEffort} onClick={removeEffort}>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M6 6l8 8M14 6l-8 8" />
        </svg>
      </button>
    </div>
  )
}

const nameLevel = (effort: EffortChoice | null): string => writingText.efforts[effort ?? "standard"]
