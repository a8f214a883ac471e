/**
 * view-nodes.tsx: renders the nodes of a filled card. All text is rendered as text nodes. The direction of text depends
 * on its content; the alignment depends on the card.
 */

import type { ComponentChildren, VNode } from "preact"
import { useEffect } from "preact/hooks"
import type { ChartPayload } from "../../../shared/card/chart-payload.ts"
import type { ViewNode } from "../../../shared/card/view/view-node.ts"
import { InlineImage } from "../../media/media-view.tsx"
import { ProseLink } from "../../markdown/sources/prose-link.tsx"
import { mediaViews } from "../../media/loading/deferred-media.ts"
import { deferModule } from "../../ui/deferred-module.ts"
import { toSafeHref } from "../../words/format/link-policy.ts"
import { viewText } from "../../words/parts/view-text.ts"
import { ViewIcon } from "./view-icon.tsx"
import { ViewTable } from "./view-table.tsx"

type NodeOf<T extends ViewNode["type"]> = Extract<ViewNode, { readonly type: T }>

export function ViewNodes({ node }: { readonly node: ViewNode }): VNode | null {
  switch (node.type) {
    case "text":
      return (
        <p class={`view-text view-${node.variant}`}>
          <bdi>{node.runs}</bdi>
        </p>
      )
    case "link":
      return <ViewLink node={node} />
    case "badge":
      return (
        <span class="view-badge" data-tone={node.tone}>
          <bdi>{node.runs}</bdi>
        </span>
      )
    case "icon":
      return <ViewIcon name={node.name} />
    case "image":
      return <ViewImage node={node} />
    case "row":
    case "column":
      return <Box node={node} />
    case "list":
      return <List node={node} />
    case "card":
      return (
        <div class="view-box">
          <ViewNodes node={node.child} />
        </div>
      )
    case "tabs":
    case "timer":
    case "button":
    case "field":
      return <Control node={node} />
    case "divider":
      return <hr />
    case "table":
      return <ViewTable node={node} />
    case "chart":
      return <Chart chart={node.chart} omitted={node.omitted} />
    case "progress":
      return <Progress node={node} />
  }
}

/** The code for tabs, timers, buttons and fields, loaded on first use. */
export const viewControls = deferModule(() => import("./view-controls.tsx"))

function Control({ node }: { readonly node: NodeOf<"tabs" | "timer" | "button" | "field"> }): VNode | null {
  const { module } = viewControls
  useEffect(() => void viewControls.load(), [])
  if (module.value !== null)
    return <module.value.ControlView node={node} renderNode={(child) => <ViewNodes node={child} />} />
  // Until the code is loaded, the first tab is shown.
  const [first] = node.type === "tabs" ? node.tabs : []
  return first === undefined ? null : <ViewNodes node={first.child} />
}

/** A card's link. The rule for links in answers is applied again where the link is created. SPEC MD5. */
function ViewLink({ node: { url, runs } }: { readonly node: NodeOf<"link"> }): VNode {
  const href = toSafeHref(url)
  return (
    <p class="view-text view-link">
      <bdi>{href === null ? runs : <ProseLink href={href}>{runs}</ProseLink>}</bdi>
    </p>
  )
}

function ViewImage({ node: { url, label, variant } }: { readonly node: NodeOf<"image"> }): VNode {
  const isSmall = variant === "icon" || variant === "avatar" || variant === "smallFeature"
  const large = isSmall ? null : mediaViews.module.value?.renderMedia({ type: "media", url, kind: "image", label })
  return (
    <div class="view-picture" data-variant={variant}>
      {large ?? <InlineImage url={url} label={label} />}
    </div>
  )
}

function Box({ node }: { readonly node: NodeOf<"row" | "column"> }): VNode {
  const { type, justify, align, children } = node
  return (
    <div class={`view-${type}`} data-justify={justify} data-align={align}>
      {children.map((child, at) => (
        <Weighted key={at} weight={child.weight}>
          <ViewNodes node={child} />
        </Weighted>
      ))}
    </div>
  )
}

interface WeightedProps {
  readonly weight: number | undefined
  readonly children: ComponentChildren
}

function Weighted({ weight, children }: WeightedProps): VNode {
  if (weight === undefined) return <>{children}</>
  return (
    <div class="view-weighted" style={{ flexGrow: weight }}>
      {children}
    </div>
  )
}

function List({ node: { children, isHorizontal, omitted } }: { readonly node: NodeOf<"list"> }): VNode {
  return (
    <>
      <ul class="view-list" data-horizontal={isHorizontal ? "" : undefined}>
        {children.map((child, at) => (
          <li key={at}>
            <ViewNodes node={child} />
          </li>
        ))}
      </ul>
      <Omitted count={omitted} />
    </>
  )
}

export function Omitted({ count }: { readonly count: number }): VNode | null {
  return count === 0 ? null : <p class="view-text view-caption">{viewText.more(count)}</p>
}

const chartCard = deferModule(() => import("../chart/chart-card.tsx"))

function Chart({ chart, omitted }: { readonly chart: ChartPayload; readonly omitted: number }): VNode {
  const { module } = chartCard
  if (module.value === null) void chartCard.load()
  return (
    <div class="view-drawing">
      {module.value?.renderCard(
        { payload: { ...chart, data: chart.data.map((point) => ({ ...point })) }, synthesis: "", isFresh: false },
        null,
      )}
      <Omitted count={omitted} />
    </div>
  )
}

function Progress({ node: { label, value, text } }: { readonly node: NodeOf<"progress"> }): VNode {
  return (
    <div class="view-progress">
      <p class="view-text">
        <bdi>{label}</bdi>
      </p>
      <p class="view-text view-caption">{text}</p>
      <div
        class="view-track"
        role="progressbar"
        aria-label={label.join("")}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(value * 100)}
        aria-valuetext={text}
      >
        <span style={{ width: `${value * 100}%` }} />
      </div>
    </div>
  )
}
