/**
 * answer-menu.tsx: an answer's menu. Loaded with the conversations' menus (sidebar/deferred-actions.tsx).
 */

import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import { answerMenuText } from "../words/answer-menu-text.ts"
import { PopupMenu } from "./popup-menu.tsx"

interface AnswerMenuProps {
  /** The id of the answer's turn in the server's log. */
  readonly trace: string
  readonly anchor: HTMLElement
  /** Resolves with false if the browser refuses. */
  readonly writeText: (text: string) => Promise<boolean>
  readonly onClose: () => void
}

/** How long the menu shows whether the id was copied, in milliseconds. */
const RESULT_MS = 1_500

export function AnswerMenu({ trace, anchor, writeText, onClose }: AnswerMenuProps): VNode {
  const [label, setLabel] = useState<string>(answerMenuText.copyTrace)
  const isDone = label !== answerMenuText.copyTrace
  const closeMenu = (isFocusHandled: boolean): void => {
    onClose()
    if (!isFocusHandled) anchor.focus({ preventScroll: true })
  }
  const copyTrace = async (): Promise<void> => {
    const result = (await writeText(trace)) ? answerMenuText.copied : answerMenuText.copyFailed
    setLabel(result)
  }
  useEffect(() => {
    if (!isDone) return
    const timer = setTimeout(() => closeMenu(false), RESULT_MS)
    return () => clearTimeout(timer)
  }, [isDone])
  const items = [{ label, staysOpen: true, onSelect: () => void copyTrace() }]
  return (
    <>
      <PopupMenu label={answerMenuText.more} items={items} findAnchor={() => anchor} onClose={closeMenu} />
      <span class="visually-hidden" role="status">
        {isDone ? label : ""}
      </span>
    </>
  )
}
