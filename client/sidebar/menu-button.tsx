/** menu-button.tsx: the button that opens a conversation's menu in the sidebar. */

import type { VNode } from "preact"
import type { SessionActions } from "./sidebar.tsx"
import { conversationText } from "../words/page-text.ts"

interface MenuButtonProps extends Pick<SessionActions, "openMenuId" | "toggleMenu"> {
  /** The session, as named in the page's URL. */
  readonly id: string
  /** The title that is shown. */
  readonly name: string
}

export function MenuButton({ id, name, openMenuId, toggleMenu }: MenuButtonProps): VNode {
  return (
    <button
      type="button"
      class="more"
      aria-label={conversationText.optionsFor(name)}
      aria-haspopup="menu"
      aria-expanded={openMenuId.value === id}
      onClick={() => toggleMenu(id)}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M5 10h.01M10 10h.01M15 10h.01" />
      </svg>
    </button>
  )
}
