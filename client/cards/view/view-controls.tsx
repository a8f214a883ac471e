/**
 * view-controls.tsx: a card's tabs, timers, buttons and fields, and the form that contains them. Loaded on first use.
 * SPEC KA7.
 */

import type { VNode } from "preact"
import type { ViewNode } from "../../../shared/card/view/view-node.ts"
import { ViewButton } from "./view-button.tsx"
import { ViewField } from "./view-field.tsx"
import { ViewTabs } from "./view-tabs.tsx"
import { ViewTimer } from "./view-timer.tsx"

export { ActionForm } from "./action-form.tsx"

interface ControlViewProps {
  readonly node: Extract<ViewNode, { readonly type: "tabs" | "timer" | "button" | "field" }>
  readonly renderNode: (node: ViewNode) => VNode
}

export function ControlView({ node, renderNode }: ControlViewProps): VNode {
  switch (node.type) {
    case "tabs":
      return <ViewTabs tabs={node.tabs} renderPanel={renderNode} />
    case "timer":
      return <ViewTimer node={node} />
    case "button":
      return <ViewButton node={node} />
    case "field":
      return <ViewField node={node} />
  }
}
