/** source-link.tsx: a link to a source, with the source's number and a card with its title and quote. SPEC SC4. */

import type { VNode } from "preact"
import { useId, useRef } from "preact/hooks"
import { parseHost } from "../../words/format/link-policy.ts"
import type { NumberedSource } from "./source-numbers.ts"
import type { LinkProps } from "./prose-link.tsx"

/**
 * A link to a source. The card appears while the link is hovered or focused. On touch screens, a tap opens the link.
 */
export function SourceLink({ href, source, children }: LinkProps & { readonly source: NumberedSource }): VNode {
  const id = useId()
  const card = useRef<HTMLSpanElement>(null)
  const { number, title, quote } = source
  const show = (event: { readonly currentTarget: HTMLElement }): void => {
    // In the top layer, no element around the link clips the card.
    card.current?.showPopover?.()
    if (card.current !== null) placeCard(card.current, event.currentTarget)
  }
  const hide = (): void => {
    card.current?.hidePopover?.()
    card.current?.removeAttribute("style")
  }
  return (
    <span class="source-link">
      <a
        href={href}
        target="_blank"
        rel="noopener noreferrer"
        aria-describedby={id}
        onPointerEnter={(event) => event.pointerType === "mouse" && show(event)}
        onPointerLeave={hide}
        onFocus={(event) => event.currentTarget.matches(":focus-visible") && show(event)}
        onBlur={hide}
      >
        {children}
        <sup>{number}</sup>
      </a>
      <span class="source-card" role="tooltip" popover="manual" id={id} ref={card}>
        <bdi class="title">{title}</bdi>
        <span>{parseHost(href)}</span>
        {quote !== undefined && <q dir="auto">{quote}</q>}
      </span>
    </span>
  )
}

/** Space between the card, its link and the window's edge, in CSS pixels. */
const GAP_PX = 6

/** Places the card below the last line of the link, or above the first one if there is no room below. */
function placeCard(card: HTMLElement, link: HTMLElement): void {
  const lines = [...link.getClientRects()]
  const [first, last] = [lines[0], lines.at(-1)]
  if (first === undefined || last === undefined) return
  const { offsetWidth: width, offsetHeight: height } = card
  const isBelow = last.bottom + GAP_PX + height <= innerHeight
  card.style.top = `${isBelow ? last.bottom + GAP_PX : first.top - GAP_PX - height}px`
  card.style.left = `${Math.max(GAP_PX, Math.min(last.left, innerWidth - width - GAP_PX))}px`
}
