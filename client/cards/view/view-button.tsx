/** view-button.tsx: a card's button, which shows the state of its action. SPEC KA7. */

import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import type { ViewNode } from "../../../shared/card/view/view-node.ts"
import { toActionKey } from "../../../shared/protocol/cards/action-key.ts"
import { viewText } from "../../words/parts/view-text.ts"
import { useCardForm } from "./action-form.tsx"
import type { ActionState } from "./action-state.ts"

interface ViewButtonProps {
  readonly node: Extract<ViewNode, { readonly type: "button" }>
}

export function ViewButton({ node }: ViewButtonProps): VNode {
  const form = useCardForm()
  const box = useRef<HTMLDivElement>(null)
  const states = form.states.value
  const state = states.get(toActionKey({ name: node.action, item: node.item })) ?? "idle"
  const isBusy = [...states.values()].includes("sent")
  const isOver = state === "done" && !form.isRepeatable(node.action)
  const act = (): void => {
    // The button isn't disabled while busy, because a disabled button would lose the focus.
    if (isBusy || isOver) return
    const field = form.act(node)
    if (field !== null) focusField(box.current, field)
  }
  return (
    <div class="view-action" ref={box}>
      <button
        type="button"
        class={node.isPrimary ? "primary" : undefined}
        data-state={state}
        disabled={form.isReadOnly.value}
        aria-disabled={isBusy || isOver}
        onClick={act}
      >
        <bdi>{node.label}</bdi>
      </button>
      <span class="view-state" role="status">
        {describeState(state)}
      </span>
    </div>
  )
}

function describeState(state: ActionState): string {
  switch (state) {
    case "idle":
      return ""
    case "sent":
      return viewText.sending
    case "done":
      return viewText.done
    case "refused":
      return viewText.refused
  }
}

/** Focuses a field in the same card. */
function focusField(box: HTMLElement | null, name: string): void {
  const fields = box?.closest(".view-inner")?.querySelectorAll<HTMLElement>("[data-field]") ?? []
  for (const field of fields) if (field.dataset["field"] === name) return field.focus()
}
