/**
 * message-editor.tsx: a user's earlier words, to be said differently, in their place.
 *
 * Escape gives up, Ctrl or Cmd and Enter save. It stays until the edited message stands there, so that no words are
 * lost to a refusal and the old ones do not flash. Its words are kept in the draft. Source: SPEC PG22, PG27.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { stripControlChars } from "../composer/typed-text.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { useFitTextarea } from "../ui/fit-textarea.ts"
import type { TranscriptRequests } from "./transcript-requests.ts"

interface MessageEditorProps {
  readonly id: string
  readonly original: string
  /** Nothing goes with the words: there have to be some. */
  readonly isTextRequired: boolean
  readonly requests: TranscriptRequests
  readonly onClose: () => void
}

export function MessageEditor({
  id,
  original: words,
  isTextRequired: isAlone,
  requests: asking,
  onClose,
}: MessageEditorProps): VNode {
  const [text, setText] = useState(asking.draft.editTexts.get(id) ?? words)
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.setSelectionRange(text.length, text.length)
  }, [])
  useFitTextarea(field, text)

  const pending = asking.commands.pending.value.get(id)
  const isSaving = pending !== undefined
  const isAcknowledged = pending?.isAcknowledged === true
  const isTooLong = countUtf8Bytes(text) > MAX_MESSAGE_BYTES
  const isReady = !isSaving && (text.trim() !== "" || !isAlone) && !isTooLong
  const updateText = (now: string): void => {
    setText(now)
    asking.draft.editTexts.set(id, now)
  }
  /** Until the server has it. */
  const cancelEdit = (): void => {
    if (asking.cancelEdit(id)) onClose()
  }
  const saveEdit = (): void => {
    if (!isReady) return
    if (text === words) cancelEdit()
    else asking.editMessage(id, stripControlChars(text))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === "Escape") {
      event.preventDefault()
      cancelEdit()
    }
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    saveEdit()
  }
  return (
    <form
      class="editor"
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault()
        saveEdit()
      }}
    >
      <textarea
        ref={field}
        rows={1}
        value={text}
        readOnly={isSaving}
        aria-label="Edit message"
        onInput={(event) => updateText(event.currentTarget.value)}
      />
      <p class="note">{isTooLong ? `A message may have ${MAX_MESSAGE_BYTES / 1024} KB at most.` : ""}</p>
      <button type="button" aria-disabled={isAcknowledged} onClick={cancelEdit}>
        Cancel
      </button>
      <button type="submit" class="firm" aria-disabled={!isReady}>
        {isSaving ? "Saving…" : "Save"}
      </button>
    </form>
  )
}
