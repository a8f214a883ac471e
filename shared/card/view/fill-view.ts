/**
 * fill-view.ts: fills a card's template with a stored tool result.
 *
 * template, tool result, locale → FILL → tree of nodes → page, Markdown
 * Components whose values are missing from the result are left out, and so are containers that become empty. The work
 * is bounded for every template and result. Pure. SPEC CV4 to CV8.
 */

import { isJsonObject, type Json } from "../../json.ts"
import { parseAssetUrl } from "../../protocol/asset-url.ts"
import { MAX_VIEW_ROWS } from "../../protocol/cards/card-bounds.ts"
import { cutText } from "../../text/cut-text.ts"
import {
  ALIGN,
  type CardView,
  IMAGE_VARIANTS,
  JUSTIFY,
  MAX_VIEW_DEPTH,
  TEXT_VARIANTS,
  TONES,
  type ViewComponent,
} from "./card-template.ts"
import { fillField } from "../actions/fill-field.ts"
import { fillChart, fillTable } from "./fill-rows.ts"
import { formatDynamic, type Runs, readValue, toTime, type ViewLocale, type ViewScope } from "./format-value.ts"
import { parseIconName } from "./icon-name.ts"
import { isLinkAddress, MAX_ADDRESS_CHARS } from "./link-address.ts"
import type { FilledView, ViewNode, ViewTab } from "./view-node.ts"

/** Maximum number of nodes and cells. A template's lists can produce more; the excess is left out. */
const MAX_NODES = 2_000
/** Maximum total length of all text in a card, in UTF-16 code units. */
const MAX_CHARS = 100_000
/** Maximum length of a card's name, in UTF-16 code units. */
const MAX_TITLE_CHARS = 200

type Components = ReadonlyMap<string, ViewComponent>

/** Returns the filled card; null if the result contains nothing that the card shows. */
export function fillView(
  { title, view }: CardView,
  result: Json,
  locale: ViewLocale,
  onFound?: (binding: object) => void,
): FilledView | null {
  const components = new Map(view.map((component) => [component.id, component]))
  const left = { nodes: MAX_NODES, chars: MAX_CHARS }
  const scope: ViewScope = { root: result, item: undefined, locale, left, ...(onFound && { onFound }) }
  const name = formatDynamic(title, scope)?.join("") ?? ""
  const root = fillComponent("root", scope, components, 1)
  if (root === null) return null
  return { title: cutText(name, MAX_TITLE_CHARS), root }
}

function fillComponent(id: Json | undefined, scope: ViewScope, components: Components, depth: number): ViewNode | null {
  const component = typeof id === "string" ? components.get(id) : undefined
  if (component === undefined || depth > MAX_VIEW_DEPTH || scope.left.nodes <= 0) return null
  scope.left.nodes--
  const node = fillContainer(component, scope, components, depth) ?? fillLeaf(component, scope)
  const { weight } = component
  return node !== null && typeof weight === "number" ? { ...node, weight } : node
}

function fillContainer(
  component: ViewComponent,
  scope: ViewScope,
  components: Components,
  depth: number,
): ViewNode | null {
  switch (component.component) {
    case "Row":
    case "Column": {
      const { children } = fillChildren(component["children"], scope, components, depth)
      if (children.length === 0) return null
      const isRow = component.component === "Row"
      const justify = pick(JUSTIFY, component["justify"], "start")
      return { type: isRow ? "row" : "column", children, justify, align: pick(ALIGN, component["align"], "stretch") }
    }
    case "List": {
      const { children, omitted } = fillChildren(component["children"], scope, components, depth)
      const isHorizontal = component["direction"] === "horizontal"
      return children.length === 0 ? null : { type: "list", children, isHorizontal, omitted }
    }
    case "Card": {
      const child = fillComponent(component["child"], scope, components, depth + 1)
      return child === null ? null : { type: "card", child }
    }
    case "Tabs":
      return fillTabs(component["tabs"], scope, components, depth)
    default:
      return null
  }
}

/** Returns the children that a list of ids names, or one child for each item of an array. */
function fillChildren(
  children: Json | undefined,
  scope: ViewScope,
  components: Components,
  depth: number,
): { readonly children: readonly ViewNode[]; readonly omitted: number } {
  if (Array.isArray(children)) {
    return { children: children.flatMap((id) => fillComponent(id, scope, components, depth + 1) ?? []), omitted: 0 }
  }
  const items = readValue(children, scope)
  if (!isJsonObject(children) || !Array.isArray(items)) return { children: [], omitted: 0 }
  const template = children["componentId"]
  const nodes: ViewNode[] = []
  for (const [index, item] of (items.slice(0, MAX_VIEW_ROWS) as readonly Json[]).entries()) {
    const node = fillComponent(template, { ...scope, item, index }, components, depth + 1)
    if (node !== null) nodes.push(node)
  }
  return { children: nodes, omitted: Math.max(0, items.length - MAX_VIEW_ROWS) }
}

function fillTabs(tabs: Json | undefined, scope: ViewScope, components: Components, depth: number): ViewNode | null {
  if (!Array.isArray(tabs)) return null
  const filled = tabs.flatMap((tab: Json): ViewTab[] => {
    if (!isJsonObject(tab)) return []
    const title = formatDynamic(tab["title"], scope)
    const child = fillComponent(tab["child"], scope, components, depth + 1)
    return title === null || child === null ? [] : [{ title, child }]
  })
  return filled.length === 0 ? null : { type: "tabs", tabs: filled }
}

function fillLeaf(component: ViewComponent, scope: ViewScope): ViewNode | null {
  switch (component.component) {
    case "Text":
      return withRuns(component["text"], scope, (runs) => {
        return { type: "text", runs, variant: pick(TEXT_VARIANTS, component["variant"], "body") }
      })
    case "Link":
      return withRuns(component["text"], scope, (runs) => {
        const url = readAddress(component["url"], scope)
        return url === null || !isLinkAddress(url)
          ? { type: "text", runs, variant: "body" }
          : { type: "link", runs, url }
      })
    case "Badge":
      return withRuns(component["text"], scope, (runs) => {
        return { type: "badge", runs, tone: pick(TONES, formatDynamic(component["tone"], scope)?.join(""), "neutral") }
      })
    case "Icon": {
      const name = parseIconName(readValue(component["name"], scope))
      return name === null ? null : { type: "icon", name }
    }
    case "Image":
      return fillImage(component, scope)
    case "Divider":
      return { type: "divider" }
    case "Table":
      return fillTable(component, scope)
    case "Chart":
      return fillChart(component, scope)
    case "Progress":
      return fillProgress(component, scope)
    case "Timer":
      return fillTimer(component, scope)
    case "Button":
      return withRuns(component["label"], scope, (label) => {
        const isPrimary = component["variant"] === "primary"
        return { type: "button", label, action: String(component["action"]), isPrimary, item: scope.index }
      })
    case "TextField":
    case "CheckBox":
    case "ChoicePicker":
    case "DateTimeInput":
      return fillField(component, scope)
    default:
      return null
  }
}

function withRuns(text: Json | undefined, scope: ViewScope, create: (runs: Runs) => ViewNode): ViewNode | null {
  const runs = formatDynamic(text, scope)
  return runs === null ? null : create(runs)
}

function fillImage(component: ViewComponent, scope: ViewScope): ViewNode | null {
  const url = readAddress(component["url"], scope)
  if (url === null || !((/^https:/i.test(url) && isLinkAddress(url)) || parseAssetUrl(url) !== null)) return null
  const label = formatDynamic(component["description"], scope)?.join("") ?? ""
  return { type: "image", url, label, variant: pick(IMAGE_VARIANTS, component["variant"], "mediumFeature") }
}

function readAddress(value: Json | undefined, scope: ViewScope): string | null {
  const url = readValue(value, scope)
  return typeof url === "string" && url.length <= MAX_ADDRESS_CHARS ? url : null
}

function fillProgress(component: ViewComponent, scope: ViewScope): ViewNode | null {
  const [value, max = 1] = [readValue(component["value"], scope), readValue(component["max"], scope)]
  if (typeof value !== "number" || typeof max !== "number" || max <= 0) return null
  const share = Math.min(1, Math.max(0, value / max))
  const text = new Intl.NumberFormat(scope.locale.locale, { style: "percent" }).format(share)
  return { type: "progress", label: formatDynamic(component["label"], scope) ?? [], value: share, text }
}

function fillTimer(component: ViewComponent, scope: ViewScope): ViewNode | null {
  const { endsAt: time, label, done } = component
  const endsAt = toTime(readValue(time, scope))
  const text = formatDynamic({ call: "formatDate", args: { value: time ?? null } }, scope)
  if (Number.isNaN(endsAt) || text === null) return null
  const shown = {
    label: formatDynamic(label, scope) ?? [],
    text: text.join(""),
    done: formatDynamic(done, scope)?.join("") ?? "",
  }
  return { type: "timer", endsAt, ...shown }
}

function pick<T extends string>(names: readonly T[], value: Json | undefined, fallback: T): T {
  return names.find((name) => name === value) ?? fallback
}
