/**
 * composer.tsx: the form for writing a message.
 *
 * Enter sends, Shift+Enter inserts a line break, and Enter inside an input method only ends its composition. The
 * composer remains enabled while an answer is running, because the server queues messages. Source: SPEC PG5, PG18,
 * PG19, PG70, PG84.
 */

import type { RefObject, TargetedKeyboardEvent, VNode } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import type { MessageExtras } from "../net/outbox.ts"
import type { Draft } from "../session/draft.ts"
import type { Quote } from "../session/quote.ts"
import { useFitTextarea } from "../ui/fit-textarea.ts"
import { focusRequests } from "../ui/focus.ts"
import { mayTakeFocus } from "../ui/page-root.ts"
import { formatSize } from "../words/format/file-size.ts"
import { composerText } from "../words/page-text.ts"
import { composerTools } from "../writing/deferred-writing.ts"
import type { WritingHost } from "../writing/writing-host.ts"
import { AttachButton, type OnFiles } from "./attach-button.tsx"
import { attachmentChips } from "./deferred-chips.ts"
import { stripControlChars } from "./typed-text.ts"

interface ComposerProps {
  readonly canSend: boolean
  readonly onSend: (content: string, extras: MessageExtras) => void
  /** Attaches files to the message; absent if none can be attached. */
  readonly onFiles?: OnFiles | undefined
  /** The message being replied to. */
  readonly quote?: Quote | null
  /** Stops the running answer; null if none is running. */
  readonly stop: StopControl | null
  /** The message being written. The draft still exists after this component is unmounted. */
  readonly draft: Draft
  /** What the tools that are loaded later need from the page. If absent, there are no tools. */
  readonly host?: WritingHost
}

interface StopControl {
  readonly isRequested: boolean
  readonly onStop: () => void
}

/** The message's size is shown once it exceeds this fraction of the limit. */
const SIZE_SHOWN_SHARE = 0.8

export function Composer({ canSend, onSend, onFiles, quote = null, stop, draft, host }: ComposerProps): VNode {
  const tools = host && composerTools.module.value
  const text = draft.text.value
  const { attachments } = draft
  const chips = useChips(quote !== null || attachments.entries.value.length > 0)
  const field = useComposerField(text)
  const bytes = countUtf8Bytes(text)
  const hasContent = stripControlChars(text).trim() !== "" || attachments.entries.value.length > 0
  const isReady = canSend && hasContent && attachments.isReady && bytes <= MAX_MESSAGE_BYTES
  const submitMessage = (): void => {
    if (!isReady) return
    const content = stripControlChars(text)
    onSend(content.trim() === "" ? "" : content, draft.takeExtras())
    draft.text.value = ""
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === "Escape" && text === "" && stop === null && quote === null) field.current?.blur()
    if (!isSubmitKey(event)) return
    event.preventDefault()
    submitMessage()
  }
  return (
    <>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault()
          submitMessage()
          field.current?.focus()
        }}
      >
        {chips !== null && quote !== null && (
          <chips.QuoteChip quote={quote} onRemove={() => removeQuote(draft, field.current)} />
        )}
        {chips !== null && (
          <chips.AttachmentChips attachments={attachments} onFocusLost={() => focusIfFinePointer(field.current)} />
        )}
        {onFiles !== undefined && <AttachButton onFiles={onFiles} />}
        <textarea
          ref={field}
          rows={1}
          value={text}
          placeholder={composerText.placeholder}
          aria-label={composerText.message}
          aria-describedby="composer-size"
          enterkeyhint="send"
          dir={text === "" ? undefined : "auto"}
          onInput={(event) => (draft.text.value = event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => chips?.handlePaste(event, onFiles)}
        />
        <ComposerStatus bytes={bytes} isStopping={stop?.isRequested === true} />
        {tools && <tools.ComposerTools host={host} field={field} onFiles={onFiles} />}
        {stop !== null && <StopButton {...stop} />}
        {(stop === null || hasContent) && <SendButton isDisabled={!isReady} />}
      </form>
      {tools && <tools.ComposerDialogs host={host} onFiles={onFiles} />}
    </>
  )
}

/** Returns the code for the chips, or null while it isn't loaded. Loads it as soon as there is something to show. */
function useChips(isNeeded: boolean): typeof attachmentChips.module.value {
  useEffect(() => {
    if (isNeeded) void attachmentChips.load()
  }, [isNeeded])
  return attachmentChips.module.value
}

/** Returns a ref for the text area, which is kept as tall as its text and focused on request. */
function useComposerField(text: string): RefObject<HTMLTextAreaElement | null> {
  const field = useRef<HTMLTextAreaElement>(null)
  const focusRequest = focusRequests.value
  useFitTextarea(field, text)
  useLayoutEffect(() => {
    if (focusRequest > 0 || mayTakeFocus()) focusIfFinePointer(field.current)
  }, [focusRequest])
  return field
}

function ComposerStatus({ bytes, isStopping }: { readonly bytes: number; readonly isStopping: boolean }): VNode {
  const isSizeShown = bytes > MAX_MESSAGE_BYTES * SIZE_SHOWN_SHARE
  return (
    <p id="composer-size" class={bytes > MAX_MESSAGE_BYTES ? "size over" : "size"} aria-live="polite">
      {isSizeShown ? composerText.size(formatSize(bytes), formatSize(MAX_MESSAGE_BYTES)) : ""}
      {isStopping && ` ${composerText.stopping}`}
    </p>
  )
}

function StopButton({ isRequested, onStop }: StopControl): VNode {
  return (
    <button
      type="button"
      class="stop"
      aria-label={composerText.stop}
      title={composerText.stopTitle}
      aria-disabled={isRequested}
      onClick={onStop}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" />
      </svg>
    </button>
  )
}

function SendButton({ isDisabled }: { readonly isDisabled: boolean }): VNode {
  return (
    <button type="submit" disabled={isDisabled} aria-label={composerText.send}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M10 16V4.5M5 9l5-5 5 5" />
      </svg>
    </button>
  )
}

function isSubmitKey(event: KeyboardEvent): boolean {
  // Key code 229: with some input methods, `isComposing` is already false for the Enter that ends a composition.
  return event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229
}

/** Removes the reply reference. The chip's button disappears, so the focus moves to the field. */
function removeQuote(draft: Draft, field: HTMLTextAreaElement | null): void {
  draft.replyTo.value = null
  field?.focus()
}

/** Does nothing on a touch screen, where focusing the field would open a keyboard that covers half of the page. */
function focusIfFinePointer(field: HTMLTextAreaElement | null): void {
  if (matchMedia("(pointer: fine)").matches) field?.focus({ preventScroll: true })
}
