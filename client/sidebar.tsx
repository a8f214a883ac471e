/**
 * sidebar.tsx: the sessions there are, and a new one. A column at a desk, a drawer on a phone.
 */

import { type Signal, useComputed, useSignalEffect } from "@preact/signals"
import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import type { Chat } from "./chat.ts"
import { theme, turnTheme } from "./theme.ts"

interface SidebarProps {
  readonly chat: Chat
  readonly isOpen: Signal<boolean>
}

export function Sidebar({ chat, isOpen }: SidebarProps): VNode {
  const current = useComputed(() => chat.room.value?.id ?? null).value
  const drawer = useRef<HTMLElement>(null)
  const close = (): void => {
    isOpen.value = false
  }
  useSignalEffect(() => {
    if (isOpen.value) drawer.current?.focus()
  })
  return (
    <>
      {isOpen.value && <button type="button" class="veil" aria-label="Close the list" onClick={close} />}
      <aside class="sidebar" ref={drawer} tabIndex={-1} data-open={isOpen.value ? "" : undefined}>
        <p class="brand">
          <Mark /> Cuecard
        </p>
        <a class="new" href="#/">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M10 4.5v11M4.5 10h11" />
          </svg>
          New chat
        </a>
        <nav aria-label="Conversations">
          <ul>
            {chat.sessions.value.map(({ id, title }) => (
              <li key={id}>
                <a href={`#/s/${id}`} aria-current={id === current ? "page" : undefined}>
                  {title || "Untitled"}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <button type="button" class="theme" onClick={turnTheme}>
          Theme <span>{theme.value}</span>
        </button>
      </aside>
    </>
  )
}

/** A card with its cue: the corner that is about to be turned. */
export function Mark(): VNode {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect x="4.5" y="8" width="23" height="17" rx="4.5" />
      <path d="M10 14h8" />
      <path class="cue" d="M10 19.5h12" />
    </svg>
  )
}
