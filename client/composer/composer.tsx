/**
 * composer.tsx: where a message is written.
 *
 * Enter sends, Shift+Enter is a new line, an input method keeps its Enter. It stays open while an answer runs:
 * the server queues what comes. What runs can be stopped from here. Source: SPEC PG5, PG18, PG19.
 */

import { signal } from "@preact/signals"
import type { TargetedKeyboardEvent, VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { useFit } from "../ui/fit-textarea.ts"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { FileChips, type Quote, QuoteChip } from "./attachment-chips.tsx"
import { LIMITS_TOLD } from "../files/attachment-limits.ts"
import type { Draft } from "../session/draft.ts"
import type { Beside } from "../net/outbox.ts"
import { typedWords } from "./typed-text.ts"
import { utf8Bytes } from "../../shared/truncate.ts"

interface ComposerProps {
  readonly canSend: boolean
  readonly onSend: (content: string, beside: Beside) => void
  /** Files are to go with the message; absent where none can. */
  readonly onFiles?: ((files: readonly File[]) => void) | undefined
  /** The message that it replies to, in few words. */
  readonly quote?: Quote | null
  /** The answer under way; null where there is none. */
  readonly stop: { readonly isAsked: boolean; readonly onStop: () => void } | null
  /** What is being written. It outlives this composer. */
  readonly draft: Draft
}

/** From this share of the limit on, the size is shown. */
const COUNTED_SHARE = 0.8

/** Grows when somebody asks for the composer's focus. */
export const focusAsked = signal(0)

export function Composer({ canSend, onSend, onFiles, quote = null, stop, draft }: ComposerProps): VNode {
  const text = draft.words.value
  const { files } = draft
  const field = useRef<HTMLTextAreaElement>(null)
  const asked = focusAsked.value
  useFit(field, text)
  useLayoutEffect(() => {
    focusWithoutKeyboard(field.current)
  }, [asked])

  const bytes = utf8Bytes(text)
  const isSaid = typedWords(text).trim() !== "" || files.list.value.length > 0
  const isReady = canSend && isSaid && files.isReady && bytes <= MAX_MESSAGE_BYTES
  const send = (): void => {
    if (!isReady) return
    const words = typedWords(text)
    onSend(words.trim() === "" ? "" : words, draft.takeBeside())
    draft.words.value = ""
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === "Escape" && text === "" && stop === null && quote === null) field.current?.blur()
    // 229: some input methods end their composition before they tell.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return
    event.preventDefault()
    if (isReady) send()
    // What holds the message back, and the way to be rid of it.
    else event.currentTarget.form?.querySelector<HTMLElement>(".chip[data-state=failed] button")?.focus()
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
        field.current?.focus()
      }}
    >
      {quote !== null && <QuoteChip quote={quote} onRemove={() => unquote(draft, field.current)} />}
      <FileChips files={files} onGone={() => focusWithoutKeyboard(field.current)} />
      {onFiles !== undefined && <AttachButton onFiles={onFiles} />}
      <textarea
        ref={field}
        rows={1}
        value={text}
        placeholder="Ask anything"
        aria-label="Message"
        aria-describedby="composer-size"
        enterkeyhint="send"
        onInput={(event) => (draft.words.value = event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => paste(event, onFiles)}
      />
      <p id="composer-size" class={bytes > MAX_MESSAGE_BYTES ? "size over" : "size"} aria-live="polite">
        {bytes > MAX_MESSAGE_BYTES * COUNTED_SHARE ? `${kilobytes(bytes)} of ${kilobytes(MAX_MESSAGE_BYTES)} KB` : ""}
        {stop?.isAsked === true && " Stopping…"}
      </p>
      {stop !== null && (
        <button
          type="button"
          class="stop"
          aria-label="Stop"
          title="Stop (Esc)"
          aria-disabled={stop.isAsked}
          onClick={stop.onStop}
        >
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" />
          </svg>
        </button>
      )}
      {(stop === null || isSaid) && (
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
function unquote(draft: Draft, field: HTMLTextAreaElement | null): void {
  draft.reply.value = null
  field?.focus()
}

/** Text stays text, however long, also where a picture of it comes along. */
function paste(event: ClipboardEvent, onFiles: ComposerProps["onFiles"]): void {
  const { clipboardData } = event
  const files = Array.from(clipboardData?.files ?? [])
  if (onFiles === undefined || clipboardData === null || files.length === 0 || isText(clipboardData, files)) return
  event.preventDefault()
  onFiles(files)
}

/** Some machines give the names or paths of copied files as text beside them: that is no text. */
function isText(data: DataTransfer, files: readonly File[]): boolean {
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
        title={`Attach files (${LIMITS_TOLD})`}
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
function focusWithoutKeyboard(field: HTMLTextAreaElement | null): void {
  if (matchMedia("(pointer: fine)").matches) field?.focus({ preventScroll: true })
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(bytes % 1024 === 0 ? 0 : 1)
}
