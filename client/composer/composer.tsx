/**
 * composer.tsx: where a message is written.
 *
 * Enter sends, Shift+Enter is a new line, an input method keeps its Enter. It stays open while an answer runs:
 * the server queues what comes. What runs can be stopped from here. Source: SPEC PG5, PG18, PG19.
 */

import { signal } from "@preact/signals"
import type { TargetedKeyboardEvent, VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { useFitTextarea } from "../ui/fit-textarea.ts"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { AttachmentChips, type Quote, QuoteChip } from "./attachment-chips.tsx"
import { LIMITS_TEXT } from "../files/attachment-limits.ts"
import type { Draft } from "../session/draft.ts"
import type { MessageExtras } from "../net/outbox.ts"
import { stripControlChars } from "./typed-text.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"

interface ComposerProps {
  readonly canSend: boolean
  readonly onSend: (content: string, extras: MessageExtras) => void
  /** Files are to go with the message; absent where none can. */
  readonly onFiles?: ((files: readonly File[]) => void) | undefined
  /** The message that it replies to, in few words. */
  readonly quote?: Quote | null
  /** The answer under way; null where there is none. */
  readonly stop: { readonly isRequested: boolean; readonly onStop: () => void } | null
  /** What is being written. It outlives this composer. */
  readonly draft: Draft
}

/** From this share of the limit on, the size is shown. */
const SIZE_SHOWN_SHARE = 0.8

/** Grows when somebody asks for the composer's focus. */
export const focusRequests = signal(0)

export function Composer({ canSend, onSend, onFiles, quote = null, stop, draft }: ComposerProps): VNode {
  const text = draft.text.value
  const { attachments: files } = draft
  const field = useRef<HTMLTextAreaElement>(null)
  const focusRequest = focusRequests.value
  useFitTextarea(field, text)
  useLayoutEffect(() => {
    focusIfFinePointer(field.current)
  }, [focusRequest])

  const bytes = countUtf8Bytes(text)
  const hasContent = stripControlChars(text).trim() !== "" || files.entries.value.length > 0
  const isReady = canSend && hasContent && files.isReady && bytes <= MAX_MESSAGE_BYTES
  const submitMessage = (): void => {
    if (!isReady) return
    const content = stripControlChars(text)
    onSend(content.trim() === "" ? "" : content, draft.takeExtras())
    draft.text.value = ""
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === "Escape" && text === "" && stop === null && quote === null) field.current?.blur()
    // 229: some input methods end their composition before they tell.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return
    event.preventDefault()
    if (isReady) submitMessage()
    // What holds the message back, and the way to be rid of it.
    else event.currentTarget.form?.querySelector<HTMLElement>(".chip[data-state=failed] button")?.focus()
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        submitMessage()
        field.current?.focus()
      }}
    >
      {quote !== null && <QuoteChip quote={quote} onRemove={() => removeQuote(draft, field.current)} />}
      <AttachmentChips attachments={files} onFocusLost={() => focusIfFinePointer(field.current)} />
      {onFiles !== undefined && <AttachButton onFiles={onFiles} />}
      <textarea
        ref={field}
        rows={1}
        value={text}
        placeholder="Ask anything"
        aria-label="Message"
        aria-describedby="composer-size"
        enterkeyhint="send"
        onInput={(event) => (draft.text.value = event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => handlePaste(event, onFiles)}
      />
      <p id="composer-size" class={bytes > MAX_MESSAGE_BYTES ? "size over" : "size"} aria-live="polite">
        {bytes > MAX_MESSAGE_BYTES * SIZE_SHOWN_SHARE
          ? `${formatKilobytes(bytes)} of ${formatKilobytes(MAX_MESSAGE_BYTES)} KB`
          : ""}
        {stop?.isRequested === true && " Stopping…"}
      </p>
      {stop !== null && (
        <button
          type="button"
          class="stop"
          aria-label="Stop"
          title="Stop (Esc)"
          aria-disabled={stop.isRequested}
          onClick={stop.onStop}
        >
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" />
          </svg>
        </button>
      )}
      {(stop === null || hasContent) && (
        <button type="submit" disabled={!isReady} aria-label="Send">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M10 16V4.5M5 9l5-5 5 5" />
          </svg>
        </button>
      )}
    </form>
  )
}

/** The button goes, so the focus goes to the field. */
function removeQuote(draft: Draft, field: HTMLTextAreaElement | null): void {
  draft.replyTo.value = null
  field?.focus()
}

/** Text stays text, however long, also where a picture of it comes along. */
function handlePaste(event: ClipboardEvent, onFiles: ComposerProps["onFiles"]): void {
  const { clipboardData } = event
  const files = Array.from(clipboardData?.files ?? [])
  if (onFiles === undefined || clipboardData === null || files.length === 0 || hasPastedText(clipboardData, files))
    return
  event.preventDefault()
  onFiles(files)
}

/** Some machines give the names or paths of copied files as text beside them: that is no text. */
function hasPastedText(data: DataTransfer, files: readonly File[]): boolean {
  if (!data.types.includes("text/plain")) return false
  const lines = data
    .getData("text/plain")
    .trim()
    .split(/[\r\n]+/)
  return !lines.every((line) => files.some(({ name }) => line.split(/[/\\]/).at(-1) === name))
}

function AttachButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }): VNode {
  const picker = useRef<HTMLInputElement>(null)
  return (
    <>
      <button
        type="button"
        class="attach"
        aria-label="Attach files"
        title={`Attach files (${LIMITS_TEXT})`}
        onClick={() => picker.current?.click()}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M15.5 9.6l-5.4 5.3a3.4 3.4 0 0 1-4.8-4.8l5.7-5.6a2.2 2.2 0 0 1 3.2 3.2l-5.5 5.4a1.1 1.1 0 0 1-1.6-1.6l4.9-4.8" />
        </svg>
      </button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles(Array.from(event.currentTarget.files ?? []))
          // The same file can be chosen again.
          event.currentTarget.value = ""
        }}
      />
    </>
  )
}

/** A finger would be answered with a keyboard over half the page. */
function focusIfFinePointer(field: HTMLTextAreaElement | null): void {
  if (matchMedia("(pointer: fine)").matches) field?.focus({ preventScroll: true })
}

function formatKilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(bytes % 1024 === 0 ? 0 : 1)
}
