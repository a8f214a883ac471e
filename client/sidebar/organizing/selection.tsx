/**
 * selection.tsx: the mode in which several conversations are selected and changed together: the rows with a check box,
 * and the bar with the commands. Source: SPEC LB26.
 */

import { type Signal, signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import type { SessionSummary } from "../../../shared/protocol/http-body.ts"
import { formatTitle } from "../../session/session-list.ts"
import type { SessionRouter } from "../../session/session-router.ts"
import { focusRequests } from "../../ui/focus.ts"
import { appText } from "../../words/page-text.ts"
import { organizingText } from "../../words/parts/organizing-text.ts"
import { MoveDialog } from "./move-dialog.tsx"
import { archiveSessions, deleteSessions, organizeSessions } from "./organize-sessions.ts"

/** The selected sessions. Null while nothing is being selected. */
export const selectedIds: Signal<ReadonlySet<string> | null> = signal(null)

/** Starts selecting, with one session selected. */
export function startSelecting(id: string): void {
  selectedIds.value = new Set([id])
}

/** A row of the list while sessions are being selected. */
export function SelectableRow({ session: { id, title } }: { readonly session: SessionSummary }): VNode {
  const selected = selectedIds.value ?? new Set()
  const toggle = (): void => {
    const ids = new Set(selectedIds.peek())
    if (!ids.delete(id)) ids.add(id)
    selectedIds.value = ids
  }
  return (
    <label class="selectable">
      <input
        type="checkbox"
        checked={selected.has(id)}
        aria-label={organizingText.selectSession(formatTitle(title))}
        onChange={toggle}
      />
      <span class="title" dir="auto">
        {formatTitle(title)}
      </span>
    </label>
  )
}

function stop(): void {
  selectedIds.value = null
  focusRequests.value++
}

/**
 * Ends the selection when Escape is pressed, unless a dialog or menu is open. Runs before the page's own handler, which
 * would stop the running answer.
 */
function stopOnEscape(event: KeyboardEvent): void {
  if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open], .menu") !== null) return
  event.preventDefault()
  stop()
}

export function SelectionBar({ router }: { readonly router: SessionRouter }): VNode | null {
  const isMoving = useSignal(false)
  const selected = selectedIds.value
  const isSelecting = selected !== null
  useEffect(() => {
    if (!isSelecting) return undefined
    document.querySelector<HTMLElement>(".selectable input:checked")?.focus()
    addEventListener("keydown", stopOnEscape, true)
    return () => removeEventListener("keydown", stopOnEscape, true)
  }, [isSelecting])
  if (selected === null) return null
  const listed = new Set(router.sessionList.sessions.value.map(({ id }) => id))
  const ids = [...selected].filter((id) => listed.has(id))
  const command = (label: string, run: () => unknown, isDestructive = false): VNode => (
    <button
      type="button"
      class={isDestructive ? "grave" : undefined}
      disabled={ids.length === 0}
      onClick={() => {
        run()
        stop()
      }}
    >
      {label}
    </button>
  )
  return (
    <div class="selection">
      <p role="status">{organizingText.selected(ids.length)}</p>
      {command(organizingText.pin, () => void organizeSessions(router, ids, { action: "pin" }))}
      {command(organizingText.archive, () => archiveSessions(router, ids))}
      <button type="button" disabled={ids.length === 0} onClick={() => (isMoving.value = true)}>
        {organizingText.move}
      </button>
      {command(organizingText.delete, () => deleteSessions(router, ids), true)}
      <button type="button" onClick={stop}>
        {appText.done}
      </button>
      {isMoving.value && (
        <MoveDialog
          router={router}
          ids={ids}
          onClose={() => {
            isMoving.value = false
            stop()
          }}
        />
      )}
    </div>
  )
}
