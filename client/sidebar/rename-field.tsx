/**
 * rename-field.tsx: edits a conversation's title in the sidebar. Enter and blur save the title; Escape cancels the
 * edit.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { sessionActionText } from "../words/session-action-text.ts"

interface RenameFieldProps {
  readonly title: string
  /** The accessible name and the maximum length, for a field that doesn't edit a conversation's title. */
  readonly label?: string
  readonly maxChars?: number
  /** `title` is null if it didn't change. `byKeyboard` is true if the focus is still in the field and must be moved. */
  readonly onDone: (title: string | null, byKeyboard: boolean) => void
}

export function RenameField({ title, label, maxChars = MAX_TITLE_CHARS, onDone }: RenameFieldProps): VNode {
  const field = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
    return () => {
      // Removing the field fires a blur event, which must not save the title.
      isDone.current = true
    }
  }, [])
  const finishRenaming = (value: string | null, byKeyboard: boolean): void => {
    // The blur event that follows Enter or Escape must not finish the renaming a second time.
    if (isDone.current) return
    isDone.current = true
    const newTitle = value?.trim().replace(/\s+/g, " ") ?? ""
    onDone(newTitle === "" || newTitle === title ? null : newTitle, byKeyboard)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.keyCode === 229) return
    if (event.key !== "Enter" && event.key !== "Escape") return
    event.preventDefault()
    finishRenaming(event.key === "Enter" ? (field.current?.value ?? null) : null, true)
  }
  return (
    <input
      class="rename"
      ref={field}
      dir="auto"
      defaultValue={title}
      maxLength={maxChars}
      aria-label={label ?? sessionActionText.renameInput}
      enterkeyhint="done"
      onKeyDown={onKeyDown}
      onBlur={(event) => finishRenaming(event.currentTarget.value, false)}
    />
  )
}
