/**
 * rename.tsx: a title that is being changed, in its place. Enter and leaving it save, Escape gives up.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { MAX_TITLE_CHARS } from "../../shared/limits.ts"

interface RenameProps {
  readonly title: string
  /** null: it keeps its title. */
  readonly onDone: (title: string | null) => void
}

export function RenameField({ title, onDone }: RenameProps): VNode {
  const field = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  const end = (words: string | null): void => {
    // The field goes, and leaving it would end it once more.
    if (isDone.current) return
    isDone.current = true
    const next = words?.trim().replace(/\s+/g, " ") ?? ""
    onDone(next === "" || next === title ? null : next)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.keyCode === 229) return
    if (event.key !== "Enter" && event.key !== "Escape") return
    event.preventDefault()
    end(event.key === "Enter" ? (field.current?.value ?? null) : null)
  }
  return (
    <input
      class="rename"
      ref={field}
      defaultValue={title}
      maxLength={MAX_TITLE_CHARS}
      aria-label="Title of the conversation"
      enterkeyhint="done"
      onKeyDown={onKeyDown}
      onBlur={(event) => end(event.currentTarget.value)}
    />
  )
}
