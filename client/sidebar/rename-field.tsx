/**
 * rename-field.tsx: a title that is being changed, in its place. Enter and leaving it save, Escape gives up.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { MAX_TITLE_CHARS } from "../../shared/limits.ts"

interface RenameFieldProps {
  readonly title: string
  /** A title of null: it keeps its own. `byKey`: the focus is still here and wants a place; else it has found one. */
  readonly onDone: (title: string | null, byKeyboard: boolean) => void
}

export function RenameField({ title, onDone }: RenameFieldProps): VNode {
  const field = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
    return () => {
      // A field that is taken away is left as well, in the browser's eyes.
      isDone.current = true
    }
  }, [])
  const finish = (value: string | null, byKeyboard: boolean): void => {
    // The field goes, and leaving it would end it once more.
    if (isDone.current) return
    isDone.current = true
    const newTitle = value?.trim().replace(/\s+/g, " ") ?? ""
    onDone(newTitle === "" || newTitle === title ? null : newTitle, byKeyboard)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.keyCode === 229) return
    if (event.key !== "Enter" && event.key !== "Escape") return
    event.preventDefault()
    finish(event.key === "Enter" ? (field.current?.value ?? null) : null, true)
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
      onBlur={(event) => finish(event.currentTarget.value, false)}
    />
  )
}
