/** scroll-to-end-button.tsx: the button that scrolls to the newest message, shown while the view is elsewhere. */

import type { VNode } from "preact"
import { focusRequests } from "../../ui/focus.ts"
import { appText } from "../../words/page-text.ts"
import type { ScrollAnchor } from "../scroll-anchor.ts"

export function ScrollToEndButton({ scrollAnchor }: { readonly scrollAnchor: ScrollAnchor }): VNode | null {
  if (scrollAnchor.isFollowing.value) return null
  const scrollToEnd = (): void => {
    scrollAnchor.scrollToEnd()
    // The focus moves to the composer, because the button disappears.
    focusRequests.value++
  }
  return (
    <button type="button" class="jump" onClick={scrollToEnd}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M10 4v11.5M5 11l5 5 5-5" />
      </svg>
      {scrollAnchor.hasUnread.value ? appText.newMessages : appText.jumpToLatest}
    </button>
  )
}
