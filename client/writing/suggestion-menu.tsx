/**
 * suggestion-menu.tsx: the list of saved prompts or agents that appears above the message box when the user types `/`
 * or `@`.
 *
 * The message box keeps focus. The arrow keys choose an entry, Enter and Tab insert it, and Escape closes the list.
 * Keys that belong to an input method are ignored. Source: SPEC WR21, WR31.
 */

import type { VNode } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { writingText } from "../words/writing-text.ts"
import { listedAgents, savedPrompts } from "./prompt-store.ts"
import { filterByName, findSuggestionQuery, type SuggestionQuery } from "./suggestion-query.ts"
import { startWithAgent } from "./start-with-agent.ts"
import type { WritingHost } from "./writing-host.ts"

interface SuggestionMenuProps {
  readonly host: WritingHost
  readonly field: HTMLTextAreaElement
}

interface Suggestion {
  readonly key: string
  readonly name: string
  readonly hint: string
  choose(query: SuggestionQuery): void
}

/** Maximum number of suggestions that are shown at a time. */
const MAX_SHOWN = 8

export const SUGGESTIONS_ID = "composer-suggestions"

export function SuggestionMenu({ host, field }: SuggestionMenuProps): VNode | null {
  const { query, close } = useQuery(field, host)
  const suggestions = query === null ? [] : findSuggestions(host, field, query)
  const { active, setActive } = useActive(query)
  const isOpen = suggestions.length > 0
  const chosen = suggestions[Math.min(active, suggestions.length - 1)]
  useListState(field, isOpen, chosen?.key)
  const choose = (suggestion: Suggestion): void => {
    if (query !== null) suggestion.choose(query)
    close()
  }
  useMenuKeys(field, isOpen, (key) => {
    if (key === "Escape") close()
    else if (key === "ArrowDown") setActive((active + 1) % suggestions.length)
    else if (key === "ArrowUp") setActive((active - 1 + suggestions.length) % suggestions.length)
    else if (chosen !== undefined) choose(chosen)
  })
  if (!isOpen || query === null) return null
  const label = query.kind === "agent" ? writingText.agents : writingText.prompts
  return (
    <div class="completions" role="listbox" id={SUGGESTIONS_ID} aria-label={label}>
      {suggestions.map((suggestion) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the message box keeps focus and handles the keys.
        // biome-ignore lint/a11y/useFocusableInteractive: the message box keeps focus.
        <div
          key={suggestion.key}
          id={`${SUGGESTIONS_ID}-${suggestion.key}`}
          role="option"
          aria-selected={suggestion === chosen}
          // Keeps the focus in the message box.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => choose(suggestion)}
        >
          <b dir="auto">{suggestion.name}</b> <small dir="auto">{suggestion.hint}</small>
        </div>
      ))}
    </div>
  )
}

/** Returns the query at the caret, which is read after each input and each movement of the caret. */
function useQuery(field: HTMLTextAreaElement, host: WritingHost) {
  const [query, setQuery] = useState<SuggestionQuery | null>(null)
  const closedFor = useRef<string | null>(null)
  useEffect(() => {
    const update = (event: Event): void => {
      if (event instanceof InputEvent && event.isComposing) return
      const isAtCaret = field.selectionStart === field.selectionEnd
      const found = isAtCaret ? findSuggestionQuery(field.value, field.selectionStart) : null
      if (found === null) closedFor.current = null
      const isClosed = found !== null && closedFor.current === `${found.kind}${found.from}`
      if (found !== null) void (found.kind === "agent" ? listedAgents : savedPrompts).ensure(host.api)
      setQuery(isClosed ? null : found)
    }
    const hide = (): void => setQuery(null)
    const changes = ["input", "click", "keyup", "compositionend"]
    for (const type of changes) field.addEventListener(type, update)
    field.addEventListener("blur", hide)
    // The user may have typed before this code was loaded.
    if (field.matches(":focus")) update(new Event("input"))
    return () => {
      for (const type of changes) field.removeEventListener(type, update)
      field.removeEventListener("blur", hide)
    }
  }, [field, host])
  const close = (): void => {
    closedFor.current = query === null ? null : `${query.kind}${query.from}`
    setQuery(null)
  }
  return { query, close }
}

function useActive(query: SuggestionQuery | null) {
  const [active, setActive] = useState(0)
  useEffect(() => setActive(0), [query?.kind, query?.text])
  return { active, setActive }
}

const LIST_ATTRIBUTES = {
  "aria-autocomplete": "list",
  "aria-haspopup": "listbox",
  "aria-controls": SUGGESTIONS_ID,
} as const

/** Connects the message box with the open list for assistive technology. A text area can't have the role `combobox`. */
function useListState(field: HTMLTextAreaElement, isOpen: boolean, activeKey: string | undefined): void {
  useEffect(() => {
    if (!isOpen) return undefined
    for (const [name, value] of Object.entries(LIST_ATTRIBUTES)) field.setAttribute(name, value)
    return () => {
      for (const name of Object.keys(LIST_ATTRIBUTES)) field.removeAttribute(name)
    }
  }, [field, isOpen])
  useEffect(() => {
    if (!isOpen || activeKey === undefined) return undefined
    field.setAttribute("aria-activedescendant", `${SUGGESTIONS_ID}-${activeKey}`)
    return () => field.removeAttribute("aria-activedescendant")
  }, [field, isOpen, activeKey])
}

const MENU_KEYS = new Set(["ArrowDown", "ArrowUp", "Enter", "Tab", "Escape"])

/** Handles the keys of the open list before the message box does. */
function useMenuKeys(field: HTMLTextAreaElement, isOpen: boolean, onKey: (key: string) => void): void {
  const handler = useRef(onKey)
  handler.current = onKey
  // An effect after the paint would come too late: a key that is pressed immediately would not reach the list.
  useLayoutEffect(() => {
    const form = field.form
    if (!isOpen || form === null) return undefined
    const handleKey = (event: KeyboardEvent): void => {
      // Key code 229: the key belongs to an input method.
      const isComposing = event.isComposing || event.keyCode === 229
      const isModified = event.shiftKey || event.ctrlKey || event.altKey || event.metaKey
      if (event.target !== field || isComposing || isModified || !MENU_KEYS.has(event.key)) return
      event.preventDefault()
      event.stopPropagation()
      handler.current(event.key)
    }
    form.addEventListener("keydown", handleKey, true)
    return () => form.removeEventListener("keydown", handleKey, true)
  }, [field, isOpen])
}

function findSuggestions(host: WritingHost, field: HTMLTextAreaElement, query: SuggestionQuery): Suggestion[] {
  const entries = query.kind === "agent" ? agentSuggestions(host, field) : promptSuggestions(host, field)
  return filterByName(entries, query.text).slice(0, MAX_SHOWN)
}

function promptSuggestions(host: WritingHost, field: HTMLTextAreaElement): Suggestion[] {
  const prompts = savedPrompts.entries.value ?? []
  return prompts.map(({ id, name, text }) => ({
    key: id,
    name,
    hint: text.replace(/\s+/g, " ").slice(0, 80),
    choose: ({ from, to }) => replaceRange(host, field, from, to, text),
  }))
}

/** Returns the agents as suggestions. In an open conversation, choosing an agent starts a new conversation. */
function agentSuggestions(host: WritingHost, field: HTMLTextAreaElement): Suggestion[] {
  const agents = listedAgents.entries.value ?? []
  const isNew = host.controller.value === null
  return agents.map(({ name, description }) => ({
    key: name,
    name,
    hint: isNew ? description : `${description} · ${writingText.startsNew}`,
    choose({ from, to }) {
      const rest = field.value.slice(0, from) + field.value.slice(to).replace(/^ /, "")
      startWithAgent(host, name, rest)
    },
  }))
}

function replaceRange(host: WritingHost, field: HTMLTextAreaElement, from: number, to: number, text: string): void {
  host.draft.text.value = field.value.slice(0, from) + text + field.value.slice(to)
  const caret = from + text.length
  // Runs after the field has been rendered with its new text.
  setTimeout(() => {
    field.focus()
    field.setSelectionRange(caret, caret)
  })
}
