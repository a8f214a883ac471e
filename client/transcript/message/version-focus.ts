/**
 * version-focus.ts: keeps the focus on the version buttons, and the reading position, when another version is shown.
 * SPEC PG23.
 */

import type { ScrollAnchor } from "../scroll-anchor.ts"

/** A focused version button whose article is about to disappear. */
export interface LeavingSwitch {
  /** Focuses the same button of the version that is shown instead. Returns false if there is none. */
  focusReplacement(ids: readonly string[], articles: readonly HTMLElement[], scrollAnchor: ScrollAnchor): boolean
}

/** Returns null if the focused element isn't a version button. `ids`: the ids of the messages before the update. */
export function findLeavingSwitch(
  focused: Element | null | undefined,
  article: Element,
  ids: readonly string[],
): LeavingSwitch | null {
  const way = focused?.closest<HTMLElement>(".versions [data-focus-key]")?.dataset["focusKey"]
  if (way === undefined) return null
  const after = ids[ids.indexOf(getId(article)) - 1]
  const { bottom } = article.getBoundingClientRect()
  return {
    focusReplacement(shownIds, articles, scrollAnchor) {
      const id = shownIds[after === undefined ? 0 : shownIds.indexOf(after) + 1]
      const replacement = articles.find((one) => getId(one) === id)
      replacement?.querySelector<HTMLElement>(`.versions [data-focus-key=${way}]`)?.focus({ preventScroll: true })
      if (replacement === undefined) return false
      if (replacement !== articles.at(-1)) scrollAnchor.leaveEnd()
      scrollAnchor.shiftBy(bottom, replacement.getBoundingClientRect().bottom)
      return true
    },
  }
}

function getId(article: Element): string {
  return article.getAttribute("data-id") ?? ""
}
