/** focus-message.ts: moves the focus from message to message. Source: SPEC KB5. */

/**
 * Focuses the message before (-1) or after (1) the focused message. If no message is focused, focuses the last visible
 * message (-1) or the first one (1).
 */
export function focusNeighbourMessage(step: -1 | 1): void {
  const articles = [...document.querySelectorAll<HTMLElement>("main.view article[data-id]")]
  const focused = document.activeElement?.closest<HTMLElement>("article[data-id]") ?? null
  const index = focused === null ? -1 : articles.indexOf(focused)
  const target = index === -1 ? findVisible(articles, step) : articles[index + step]
  if (target === undefined) return
  target.focus({ preventScroll: true })
  target.scrollIntoView({ block: target.offsetHeight > innerHeight / 2 ? "start" : "nearest" })
}

function findVisible(articles: readonly HTMLElement[], step: -1 | 1): HTMLElement | undefined {
  const visible = articles.filter((article) => {
    const { top, bottom } = article.getBoundingClientRect()
    return bottom > 0 && top < innerHeight
  })
  return visible.at(step === 1 ? 0 : -1)
}
