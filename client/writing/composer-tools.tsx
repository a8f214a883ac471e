/**
 * composer-tools.tsx: the parts of the composer that aren't needed for the initial render: suggestions, the tools menu,
 * dictation, the chosen agent and effort, and the notice about a long paste. Loaded after the initial render
 * (deferred-writing.ts).
 */

import type { RefObject, VNode } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { focusRequests } from "../ui/focus.ts"
import { writingText } from "../words/writing-text.ts"
import { AllowedToolsDialog } from "./allowed-tools-dialog.tsx"
import { restoreNotifying } from "./answer-notifications.ts"
import { ChosenEffort } from "./effort-choice.tsx"
import { createPastedFile, isLongPaste } from "./long-paste.ts"
import { PromptDialog } from "./prompt-dialog.tsx"
import { SuggestionMenu } from "./suggestion-menu.tsx"
import { ToolsButton, ToolsMenu } from "./tools-menu.tsx"
import { dictation, notice, openDialog } from "./tools-state.ts"
import type { WritingHost } from "./writing-host.ts"

export { notifyAboutAnswer } from "./answer-notifications.ts"

restoreNotifying()

interface ComposerToolsProps {
  readonly host: WritingHost
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly onFiles: ((files: readonly File[]) => void) | undefined
}

/** The tools inside the composer's form. */
export function ComposerTools({ host, field, onFiles }: ComposerToolsProps): VNode {
  // Null during the first render if that render also creates the field.
  const [textarea, setTextarea] = useState(field.current)
  useLayoutEffect(() => setTextarea(field.current), [])
  const paste = useLongPaste(host, field, onFiles)
  const listening = dictation.value
  // The notice belongs to the conversation in which it appeared.
  useEffect(() => clearNotice, [])
  return (
    <>
      {textarea !== null && <SuggestionMenu host={host} field={textarea} />}
      {host.controller.value === null && <ChosenAgent host={host} />}
      <ChosenEffort host={host} />
      <ToolsButton />
      {listening !== null && <StopDictationButton onStop={listening.stop} />}
      <p class="hint" role="status">
        {notice.value !== "" ? notice.value : paste.isShown ? writingText.pasted : ""}
        {notice.value === "" && paste.isShown && (
          <>
            {" "}
            <button type="button" onClick={paste.insertAsText}>
              {writingText.insertAsText}
            </button>
          </>
        )}
      </p>
    </>
  )
}

function clearNotice(): void {
  notice.value = ""
}

/** The menu and the dialogs of the tools. They contain forms, so they can't be inside the composer's form. */
export function ComposerDialogs({ host, onFiles }: Omit<ComposerToolsProps, "field">): VNode {
  const session = host.controller.value?.id ?? null
  const closeDialog = (): void => {
    openDialog.value = null
  }
  return (
    <>
      <ToolsMenu host={host} onFiles={onFiles} />
      {openDialog.value === "prompts" && (
        <PromptDialog api={host.api} initialText={host.draft.text.peek()} onClose={closeDialog} />
      )}
      {openDialog.value === "allowed" && session !== null && (
        <AllowedToolsDialog api={host.api} session={session} onClose={closeDialog} />
      )}
    </>
  )
}

/** The agent chosen for the next conversation, with a button that removes it. */
function ChosenAgent({ host }: { readonly host: WritingHost }): VNode | null {
  const { agent } = host.nextOptions.value
  if (agent === undefined) return null
  const removeAgent = (): void => {
    host.nextOptions.value = { ...host.nextOptions.peek(), agent: undefined }
    focusRequests.value++
  }
  return (
    <div class="chip agent">
      <span class="what">
        <b dir="auto">{writingText.agent(agent)}</b>
      </span>
      <button type="button" aria-label={writingText.noAgent} title={writingText.noAgent} onClick={removeAgent}>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M6 6l8 8M14 6l-8 8" />
        </svg>
      </button>
    </div>
  )
}

function StopDictationButton({ onStop }: { readonly onStop: () => void }): VNode {
  const label = writingText.stopDictating
  return (
    <button type="button" class="dictate" aria-label={label} title={label} onClick={onStop}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <rect x="7.5" y="3" width="5" height="9" rx="2.5" />
        <path d="M4.5 10a5.5 5.5 0 0 0 11 0M10 15.5V18" />
      </svg>
    </button>
  )
}

interface PastedText {
  readonly text: string
  /** The position in the message at which the text was pasted. */
  readonly from: number
  readonly to: number
  /** The keys of the attachments that existed before the paste. */
  readonly earlier: ReadonlySet<number>
}

/** Attaches long pasted text as a file, and offers to insert the latest one as text instead. */
function useLongPaste(
  host: WritingHost,
  field: RefObject<HTMLTextAreaElement | null>,
  onFiles: ComposerToolsProps["onFiles"],
) {
  const [pasted, setPasted] = useState<PastedText | null>(null)
  const count = useRef(0)
  const { attachments } = host.draft
  const upload = attachments.entries.value.find(({ key }) => pasted !== null && !pasted.earlier.has(key))
  useEffect(() => {
    const target = field.current
    const form = target?.form
    if (target === null || form == null || onFiles === undefined) return undefined
    const handlePaste = (event: ClipboardEvent): void => {
      const text = event.clipboardData?.getData("text/plain") ?? ""
      if (event.target !== target || !isLongPaste(text)) return
      event.preventDefault()
      event.stopPropagation()
      const earlier = new Set(attachments.entries.peek().map(({ key }) => key))
      count.current += 1
      setPasted({ text, from: target.selectionStart, to: target.selectionEnd, earlier })
      onFiles([createPastedFile(text, writingText.pastedName, count.current)])
    }
    form.addEventListener("paste", handlePaste, true)
    return () => form.removeEventListener("paste", handlePaste, true)
  }, [host.draft, onFiles === undefined, field.current])
  const insertAsText = (): void => {
    if (pasted === null) return
    if (upload !== undefined) attachments.removeUpload(upload.key)
    const current = host.draft.text.peek()
    host.draft.text.value = current.slice(0, pasted.from) + pasted.text + current.slice(pasted.to)
    setPasted(null)
    focusRequests.value++
  }
  return { isShown: pasted !== null && upload !== undefined, insertAsText }
}
