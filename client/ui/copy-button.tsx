/**
 * copy-button.tsx: copying a text to the clipboard, and the button that does it.
 *
 * The button confirms for COPIED_LABEL_MS. If the browser refuses, nothing changes.
 */

import type { VNode } from "preact"
import { useState } from "preact/hooks"

const COPIED_LABEL_MS = 1500

export interface CopyState {
  readonly isCopied: boolean
  copyText(): void
}

/** For a button with its own look. `getText` is called when the user presses it. */
export function useCopy(getText: () => string): CopyState {
  const [isCopied, setCopied] = useState(false)
  const onCopied = (): void => {
    setCopied(true)
    setTimeout(() => setCopied(false), COPIED_LABEL_MS)
  }
  return { isCopied, copyText: () => void navigator.clipboard?.writeText(getText()).then(onCopied, () => {}) }
}

interface CopyButtonProps {
  readonly getText: () => string
  /** The accessible name: what is copied. */
  readonly label: string
  readonly text: string
  readonly doneText: string
}

export function CopyButton({ getText, label, text, doneText }: CopyButtonProps): VNode {
  const { isCopied, copyText } = useCopy(getText)
  return (
    <button type="button" onClick={copyText} aria-label={label}>
      {isCopied ? doneText : text}
    </button>
  )
}
