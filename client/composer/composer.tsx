/**
 * composer.tsx: where a message is written.
 *
 * Enter sends, Shift+Enter is a new line, an input method keeps its Enter. It stays open while an answer runs:
 * the server queues what comes. What runs can be stopped from here. Source: SPEC PG5, PG18, PG19.
 */

import { type Signal, signal } from "@preact/signals"
import type { VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { useFit } from "./fit.ts"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { typedWords } from "./typed.ts"
import { utf8Bytes } from "../../shared/truncate.ts"

interface ComposerProps {
  readonly canSend: boolean
  readonly onSend: (content: string) => void
  /** The answer under way; null where there is none. */
  readonly stop: { readonly isAsked: boolean; readonly onStop: () => void } | null
  /** What is being written. It outlives this composer. */
  readonly draft: Signal<string>
}

/** From this share of the limit on, the size is shown. */
const COUNTED_SHARE = 0.8

/** Grows when somebody asks for the composer's focus. */
export const focusAsked = signal(0)

export function Composer({ canSend, onSend, stop, draft }: ComposerProps): VNode {
  const text = draft.value
  const field = useRef<HTMLTextAreaElement>(null)
  const asked = focusAsked.value
  useFit(field, text)
  useLayoutEffect(() => {
    focusWithoutKeyboard(field.current)
  }, [asked])

  const bytes = utf8Bytes(text)
  const isReady = canSend && typedWords(text).trim() !== "" && bytes <= MAX_MESSAGE_BYTES
  const send = (): void => {
    if (!isReady) return
    onSend(typedWords(text))
    draft.value = ""
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && text === "" && stop === null) field.current?.blur()
    // 229: some input methods end their composition before they tell.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return
    event.preventDefault()
    send()
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
      <textarea
        ref={field}
        rows={1}
        value={text}
        placeholder="Ask anything"
        aria-label="Message"
        aria-describedby="composer-size"
        enterkeyhint="send"
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onKeyDown={onKeyDown}
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
      {(stop === null || text.trim() !== "") && (
        <button type="submit" disabled={!isReady} aria-label="Send">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M10 16V4.5M5 9l5-5 5 5" />
          </svg>
        </button>
      )}
    </form>
  )
}

/** A finger would be answered with a keyboard over half the page. */
function focusWithoutKeyboard(field: HTMLTextAreaElement | null): void {
  if (matchMedia("(pointer: fine)").matches) field?.focus({ preventScroll: true })
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(bytes % 1024 === 0 ? 0 : 1)
}
