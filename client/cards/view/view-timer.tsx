/** view-timer.tsx: the time until a given moment, updated every second while it is shown. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import { formatDuration } from "../../../shared/card/view/format-value.ts"
import type { ViewNode } from "../../../shared/card/view/view-node.ts"

interface ViewTimerProps {
  readonly node: Extract<ViewNode, { readonly type: "timer" }>
}

export function ViewTimer({ node: { label, endsAt, text, done } }: ViewTimerProps): VNode {
  const now = useSignal(Date.now())
  const isOver = now.value >= endsAt
  useEffect(() => {
    if (isOver) return
    const timer = setInterval(() => {
      now.value = Date.now()
    }, 1_000)
    return () => clearInterval(timer)
  }, [isOver])
  return (
    <div class="view-timer">
      <p class="view-text">
        <bdi>{label}</bdi>
      </p>
      {isOver ? (
        <p class="view-text view-h3" title={text}>
          <bdi>{done === "" ? formatDuration(0) : done}</bdi>
        </p>
      ) : (
        <p class="view-text view-h1" role="timer" title={text}>
          {formatDuration((endsAt - now.value) / 1_000)}
        </p>
      )}
    </div>
  )
}
