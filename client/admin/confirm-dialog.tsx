/**
 * confirm-dialog.tsx: a dialog that asks for confirmation, which may require the user to type a given text; a dialog
 * that confirms a deletion; and a dialog with a form.
 */

import { useSignal } from "@preact/signals"
import type { ComponentChildren, VNode } from "preact"
import { Dialog } from "../ui/dialog.tsx"
import { adminText } from "../words/admin-text.ts"
import { pathOf } from "./admin-api.ts"
import { type AdminContext, type Loaded, notice, useAction } from "./admin-state.ts"
import { FaultText, TextField } from "./form-fields.tsx"

interface ConfirmDialogProps {
  readonly title: string
  readonly text?: string
  /** The text that the user must type before confirming. */
  readonly typed?: { readonly label: string; readonly value: string }
  readonly confirm: string
  /** The text of the button that closes the dialog; “Cancel” by default. */
  readonly cancel?: string
  /** True if the change can't be undone. */
  readonly isDestructive?: boolean
  readonly children?: ComponentChildren
  readonly onConfirm: () => Promise<void>
  /** Called when the dialog closes, with or without a change. */
  readonly onClose: () => void
}

export function ConfirmDialog(props: ConfirmDialogProps): VNode {
  const { title, text, typed, confirm, cancel = adminText.cancel, isDestructive, children, onConfirm, onClose } = props
  const entered = useSignal("")
  const action = useAction()
  const isReady = typed === undefined || entered.value === typed.value
  const submitConfirmation = async (): Promise<void> => {
    if (isReady && (await action.run(onConfirm))) onClose()
  }
  return (
    <Dialog title={title} role="alertdialog" onCancel={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submitConfirmation()
        }}
      >
        {text !== undefined && <p>{text}</p>}
        {children}
        {typed !== undefined && (
          <TextField label={typed.label} value={entered.value} onChange={(value) => (entered.value = value)} isFirst />
        )}
        <FaultText text={action.fault} />
        <p class="ways">
          <button type="button" data-first={typed === undefined ? "" : undefined} onClick={onClose}>
            {cancel}
          </button>
          <button
            type="submit"
            class={isDestructive === true ? "grave" : "firm"}
            disabled={!isReady || action.isRunning}
          >
            {action.isRunning ? adminText.saving : confirm}
          </button>
        </p>
      </form>
    </Dialog>
  )
}

interface RemoveDialogProps {
  readonly api: AdminContext["api"]
  /** The URL path of the list. An entry's path is below it. */
  readonly path: string
  readonly name: string
  readonly text: {
    readonly removeTitle: (name: string) => string
    readonly removeText: string
    readonly confirmRemove: string
    readonly removed: (name: string) => string
  }
  readonly list: Pick<Loaded<unknown>, "reload">
  readonly onClose: () => void
}

/** Asks before an entry of a list is deleted, then deletes it and reloads the list. */
export function RemoveDialog({ api, path, name, text, list, onClose }: RemoveDialogProps): VNode {
  return (
    <ConfirmDialog
      title={text.removeTitle(name)}
      text={text.removeText}
      confirm={text.confirmRemove}
      isDestructive
      onClose={onClose}
      onConfirm={async () => {
        await api.sendAction("DELETE", pathOf(path, name))
        notice.value = text.removed(name)
        await list.reload()
      }}
    />
  )
}

interface FormDialogProps {
  readonly title: string
  readonly submit: string
  readonly submitting?: string
  readonly children: ComponentChildren
  readonly onSubmit: () => Promise<void>
  readonly onClose: () => void
}

/** A dialog with a form. It stays open until the submission succeeds or the user cancels. */
export function FormDialog({ title, submit, submitting, children, onSubmit, onClose }: FormDialogProps): VNode {
  const action = useAction()
  const submitForm = async (): Promise<void> => {
    if (await action.run(onSubmit)) onClose()
  }
  return (
    <Dialog title={title} onCancel={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submitForm()
        }}
      >
        {children}
        <FaultText text={action.fault} />
        <p class="ways">
          <button type="button" onClick={onClose}>
            {adminText.cancel}
          </button>
          <button type="submit" class="firm" disabled={action.isRunning}>
            {action.isRunning ? (submitting ?? adminText.saving) : submit}
          </button>
        </p>
      </form>
    </Dialog>
  )
}
