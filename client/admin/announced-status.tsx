/**
 * announced-status.tsx: announces the progress of running work to screen readers: its start, each quarter, and its end.
 */

import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import { adminText } from "../words/admin-text.ts"

/**
 * A live region that is always in the page, because screen readers announce changes only in a region that already
 * exists.
 */
export function AnnouncedStatus({ text }: { readonly text: string }): VNode {
  return (
    <p class="visually-hidden" role="status">
      {text}
    </p>
  )
}

/** Returns text that changes only at each quarter of the work, so that screen readers don't announce every step. */
export function describeQuarter(label: string, done: number, of: number): string {
  const quarters = of > 0 ? Math.floor((4 * Math.min(done, of)) / of) : 0
  return quarters === 0 ? label : adminText.percentDone(label, 25 * quarters)
}

interface Item<S extends string> {
  readonly id: string
  readonly state: S
}

/**
 * Returns the text of the latest state change in a list. The text is empty until the state of a listed item changes. It
 * becomes empty again when a new item is listed, so that two identical changes are both announced.
 */
export function useStateChange<S extends string>(
  items: readonly Item<S>[],
  texts: Readonly<Record<S, string>>,
): string {
  const known = useRef(new Map<string, S>()).current
  const text = useRef("")
  for (const { id, state } of items) {
    const before = known.get(id)
    if (before === state) continue
    text.current = before === undefined ? "" : texts[state]
    known.set(id, state)
  }
  return text.current
}
