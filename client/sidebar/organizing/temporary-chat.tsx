/**
 * temporary-chat.tsx: the switch that makes the next conversation temporary, and the note in a temporary conversation.
 * SPEC LB27.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { describeError } from "../../net/http-request.ts"
import type { SessionRouter } from "../../session/session-router.ts"
import { focusRequests } from "../../ui/focus.ts"
import { appText } from "../../words/page-text.ts"
import { organizingText } from "../../words/parts/organizing-text.ts"
import { sessionActionText } from "../../words/session-action-text.ts"
import { DeleteDialog } from "../delete-dialog.tsx"

/** The switch, which is the last item of a new conversation's examples. */
export function TemporarySwitch({ router: { nextOptions } }: { readonly router: SessionRouter }): VNode {
  const isOn = nextOptions.value.temporary === true
  const toggle = (): void => {
    nextOptions.value = { ...nextOptions.peek(), temporary: isOn ? undefined : true }
    focusRequests.value++
  }
  return (
    <li class="temporary-switch">
      <button type="button" aria-pressed={isOn} onClick={toggle}>
        <TemporaryIcon />
        {appText.temporaryChat}
      </button>
    </li>
  )
}

/** The note above the message box of an open or new temporary conversation. */
export function TemporaryNote({ router }: { readonly router: SessionRouter }): VNode | null {
  const open = router.controller.value
  const options = router.startingEntry.value?.options ?? router.nextOptions.value
  const isTemporary = open === null ? options.temporary === true : open.store.isTemporary.value
  if (!isTemporary) return null
  return (
    <div class="temporary-note">
      <TemporaryIcon />
      <span>
        <b>{appText.temporaryChat}</b> {organizingText.temporaryHint}
      </span>
      {open !== null && <EraseButton router={router} id={open.id} />}
    </div>
  )
}

/** Erases the conversation at once. This can't be undone, so the user must confirm it. */
function EraseButton({ router, id }: { readonly router: SessionRouter; readonly id: string }): VNode {
  const isConfirming = useSignal(false)
  const erase = (): void => {
    isConfirming.value = false
    router.eraseSession(id).catch((error: unknown) => {
      const name = appText.temporaryChat
      router.sessionList.showNotice(sessionActionText.deleteFailed(name, describeError(error)), true)
    })
    // Deferred until the dialog has closed.
    setTimeout(() => focusRequests.value++)
  }
  return (
    <>
      <button type="button" onClick={() => (isConfirming.value = true)}>
        {sessionActionText.delete}
      </button>
      {isConfirming.value && (
        <DeleteDialog title={appText.temporaryChat} onCancel={() => (isConfirming.value = false)} onDelete={erase} />
      )}
    </>
  )
}

function TemporaryIcon(): VNode {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <path d="M10 3.5a6.5 6.5 0 1 1-6.5 6.5M10 6.5V10l2.5 1.5M3.6 7.2l.5-1M6 4.7l.9-.6" />
    </svg>
  )
}
