/** view-tabs.tsx: a card's tabs. The arrow keys select a tab, as in other tab lists. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useId, useRef } from "preact/hooks"
import type { ViewNode, ViewTab } from "../../../shared/card/view/view-node.ts"
import { formatLocale, getDirection } from "../../words/languages/language.ts"

interface ViewTabsProps {
  readonly tabs: readonly ViewTab[]
  readonly renderPanel: (node: ViewNode) => VNode
}

export function ViewTabs({ tabs, renderPanel }: ViewTabsProps): VNode {
  const chosen = useSignal(0)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const at = Math.min(chosen.value, tabs.length - 1)
  const choose = (next: number): void => {
    chosen.value = (next + tabs.length) % tabs.length
    list.current?.querySelectorAll("button")[chosen.value]?.focus()
  }
  return (
    <div class="view-tabs">
      <div role="tablist" ref={list} onKeyDown={(event) => handleKey(event, at, tabs.length, choose)}>
        {tabs.map(({ title }, tab) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`${id}-${tab}`}
            aria-controls={`${id}-panel`}
            aria-selected={tab === at}
            tabIndex={tab === at ? 0 : -1}
            onClick={() => {
              chosen.value = tab
            }}
          >
            <bdi>{title}</bdi>
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${at}`}>
        {tabs[at] !== undefined && renderPanel(tabs[at].child)}
      </div>
    </div>
  )
}

function handleKey(event: KeyboardEvent, at: number, count: number, choose: (at: number) => void): void {
  const forward = getDirection(formatLocale.value) === "rtl" ? -1 : 1
  if (event.key === "ArrowRight") choose(at + forward)
  else if (event.key === "ArrowLeft") choose(at - forward)
  else if (event.key === "Home") choose(0)
  else if (event.key === "End") choose(count - 1)
  else return
  event.preventDefault()
}
