/**
 * message-editor.tsx: edits one of the user's earlier messages in place.
 *
 * Escape cancels; Ctrl+Enter or Cmd+Enter saves. The editor stays open until the edited message has arrived, so that a
 * refusal loses no text and the old text doesn't reappear briefly. The text is kept in the draft. SPEC PG22, PG27.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { stripControlChars } from "../composer/typed-text.ts"
import { useFitTextarea } from "../ui/fit-textarea.ts"
import { actionText } from "../words/parts/message-text.ts"
import type { TranscriptRequests } from "./transcript-requests.ts"

interface MessageEditorProps {
  readonly id: string
  readonly original: string
  /** False if the message has attachments, which can be sent without text. */
  readonly isTextRequired: boolean
  readonly requests: TranscriptRequests
  readonly onClose: () => void
}

export function MessageEditor(props: MessageEditorProps): VNode {
  const fieldRef = useRef<HTMLTextAreaElement>(null)
  const { text, updateText, isSaving, isAcknowledged, isTooLong, isReady, cancelEdit, saveEdit } = useEditor(props)
  useLayoutEffect(() => {
    fieldRef.current?.focus()
    fieldRef.current?.setSelectionRange(text.length, text.length)
  }, [])
  useFitTextarea(fieldRef, text)
  return (
    <form
      class="editor"
      onKeyDown={(event) => handleEditorKey(event, cancelEdit, saveEdit)}
      onSubmit={(event) => {
        event.preventDefault()
        saveEdit()
      }}
    >
      <textarea
        ref={fieldRef}
        rows={1}
        value={text}
        readOnly={isSaving}
        dir="auto"
        aria-label={actionText.editField}
        onInput={(event) => updateText(event.currentTarget.value)}
      />
      <p class="note">{isTooLong ? actionText.tooLong(MAX_MESSAGE_BYTES) : ""}</p>
      <button type="button" aria-disabled={isAcknowledged} onClick={cancelEdit}>
        {actionText.cancel}
      </button>
      <button type="submit" class="firm" aria-disabled={!isReady}>
        {isSaving ? actionText.saving : actionText.save}
      </button>
    </form>
  )
}

function useEditor({ id, original, isTextRequired, requests, onClose }: MessageEditorProps) {
  const [text, setText] = useState(requests.draft.editTexts.get(id) ?? original)
  const pending = requests.commands.pending.value.get(id)
  const isSaving = pending !== undefined
  const isTooLong = countUtf8Bytes(text) > MAX_MESSAGE_BYTES
  const isReady = !isSaving && (text.trim() !== "" || !isTextRequired) && !isTooLong
  const updateText = (newText: string): void => {
    setText(newText)
    requests.draft.editTexts.set(id, newText)
  }
  /** Cancels the edit. Does nothing once the server has received it. */
  const cancelEdit = (): void => {
    if (requests.cancelEdit(id)) onClose()
  }
  const saveEdit = (): void => {
    if (!isReady) return
    if (text === original) cancelEdit()
    else requests.editMessage(id, stripControlChars(text))
  }
  const isAcknowledged = pending?.isAcknowledged === true
  return { text, updateText, isSaving, isAcknowledged, isTooLong, isReady, cancelEdit, saveEdit }
}

/** Returns whether an input method is composing and handles the key. Some browsers report this only as key code 229. */
function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229
}

function handleEditorKey(event: KeyboardEvent, cancelEdit: () => void, saveEdit: () => void): void {
  if (isComposing(event)) return
  if (event.key === "Escape") {
    event.preventDefault()
    cancelEdit()
  }
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  saveEdit()
}
