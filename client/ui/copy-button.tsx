/**
 * copy-button.tsx: a function that copies text to the clipboard, and a button that does so.
 *
 * For RESULT_LABEL_MS, the button says whether the text was copied. Source: SPEC PG83.
 */

import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { actionText } from "../words/parts/message-text.ts"
import { appendToPage, getActiveElement } from "./kept-focus/page-elements.ts"

const RESULT_LABEL_MS = 1500

export interface CopyState {
  /** Null if the button was not pressed recently. */
  readonly result: "copied" | "failed" | null
  copyText(): void
}

/** Copies text for a button that has its own appearance. `getText` is called when the user presses the button. */
export function useCopy(getText: () => string): CopyState {
  const [result, setResult] = useState<CopyState["result"]>(null)
  const copyText = async (): Promise<void> => {
    setResult((await writeToClipboard(getText())) ? "copied" : "failed")
    setTimeout(() => setResult(null), RESULT_LABEL_MS)
  }
  return { result, copyText: () => void copyText() }
}

/**
 * Copies text to the clipboard. Returns false if the browser refuses. Without HTTPS, there is no clipboard API, so the
 * text is copied from a field.
 */
export async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyFromField(text)
  }
}

/** Copies the text by selecting it in a field that is briefly added to the page. */
function copyFromField(text: string): boolean {
  const focused = getActiveElement()
  const field = document.createElement("textarea")
  field.className = "visually-hidden"
  field.value = text
  appendToPage(field)
  field.select()
  const isCopied = document.execCommand("copy")
  field.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return isCopied
}

interface CopyButtonProps {
  readonly getText: () => string
  /** The accessible name, which says what is copied. */
  readonly label: string
  readonly text: string
  readonly doneText: string
}

export function CopyButton({ getText, label, text, doneText }: CopyButtonProps): VNode {
  const { result, copyText } = useCopy(getText)
  return (
    <button type="button" onClick={copyText} aria-label={label}>
      {result === null ? text : result === "copied" ? doneText : actionText.copyFailed}
    </button>
  )
}
