/**
 * message-editor.tsx: a user's earlier words, to be said differently, in their place.
 *
 * Escape gives up, Ctrl or Cmd and Enter save. It stays until the edited message stands there, so that no words are
 * lost to a refusal and the old ones do not flash. Its words are kept in the draft. Source: SPEC PG22, PG27.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { typedWords } from "../composer/typed-text.ts"
import { utf8Bytes } from "../../shared/truncate.ts"
import { useFit } from "../ui/fit-textarea.ts"
import type { Asking } from "./transcript-requests.ts"

interface EditorProps {
  readonly id: string
  readonly words: string
  /** Nothing goes with the words: there have to be some. */
  readonly isAlone: boolean
  readonly asking: Asking
  readonly onClose: () => void
}

export function Editor({ id, words, isAlone, asking, onClose }: EditorProps): VNode {
  const [text, setText] = useState(asking.draft.edits.get(id) ?? words)
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.setSelectionRange(text.length, text.length)
  }, [])
  useFit(field, text)

  const asked = asking.commands.asked.value.get(id)
  const isSaving = asked !== undefined
  const isHeard = asked?.isHeard === true
  const isTooLong = utf8Bytes(text) > MAX_MESSAGE_BYTES
  const isReady = !isSaving && (text.trim() !== "" || !isAlone) && !isTooLong
  const write = (now: string): void => {
    setText(now)
    asking.draft.edits.set(id, now)
  }
  /** Until the server has it. */
  const giveUp = (): void => {
    if (asking.giveUpEdit(id)) onClose()
  }
  const save = (): void => {
    if (!isReady) return
    if (text === words) giveUp()
    else asking.edit(id, typedWords(text))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === "Escape") {
      event.preventDefault()
      giveUp()
    }
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    save()
  }
  return (
    <form
      class="editor"
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <textarea
        ref={field}
        rows={1}
        value={text}
        readOnly={isSaving}
        aria-label="Edit message"
        onInput={(event) => write(event.currentTarget.value)}
      />
      <p class="note">{isTooLong ? `A message may have ${MAX_MESSAGE_BYTES / 1024} KB at most.` : ""}</p>
      <button type="button" aria-disabled={isHeard} onClick={giveUp}>
        Cancel
      </button>
      <button type="submit" class="firm" aria-disabled={!isReady}>
        {isSaving ? "Saving…" : "Save"}
      </button>
    </form>
  )
}
