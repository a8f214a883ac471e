/**
 * view-markdown.ts: converts a filled card to Markdown, for exports. Its text is escaped, so it can't affect the
 * Markdown around it. Pure. SPEC CV12.
 */

import { chartToMarkdown } from "../chart-payload.ts"
import type { Runs } from "./format-value.ts"
import type { FilledView, ViewNode } from "./view-node.ts"

/** Returns the card's name, then its contents: tables as tables, lists as lists, everything else as lines. */
export function viewToMarkdown({ title, root }: FilledView): string {
  const heading = title === "" ? [] : [`**${escapeText(title)}**`]
  return [...heading, ...nodeToBlocks(root)].filter((block) => block !== "").join("\n\n")
}

function nodeToBlocks(node: ViewNode): readonly string[] {
  switch (node.type) {
    case "column":
      return node.children.flatMap(nodeToBlocks)
    case "card":
      return nodeToBlocks(node.child)
    case "tabs":
      return node.tabs.flatMap(({ title, child }) => [`**${runsToText(title)}**`, ...nodeToBlocks(child)])
    case "list": {
      const items = node.children.map((child) => `- ${nodeToLine(child)}`)
      return [[...items, ...(node.omitted > 0 ? [`- … (+${node.omitted})`] : [])].join("\n")]
    }
    case "table":
      return [tableToMarkdown(node)]
    case "chart":
      return [chartToMarkdown(node.chart)]
    case "button":
    case "field":
      return []
    case "divider":
      return ["---"]
    case "row":
      return node.children.some(isBlock) ? node.children.flatMap(nodeToBlocks) : [nodeToLine(node)]
    default:
      return [nodeToLine(node)]
  }
}

function isBlock(node: ViewNode): boolean {
  switch (node.type) {
    case "list":
    case "table":
    case "chart":
    case "tabs":
      return true
    case "card":
      return isBlock(node.child)
    case "row":
    case "column":
      return node.children.some(isBlock)
    default:
      return false
  }
}

/** Returns a node as one line. */
function nodeToLine(node: ViewNode): string {
  switch (node.type) {
    case "text":
      return /^h\d$/.test(node.variant) ? `**${runsToText(node.runs)}**` : runsToText(node.runs)
    case "badge":
      return runsToText(node.runs)
    case "link":
      return toLink(runsToText(node.runs), node.url)
    case "image":
      return toLink(escapeText(node.label) || "image", node.url)
    case "progress":
      return `${runsToText(node.label)}: ${node.text}`
    case "timer":
      return `${runsToText(node.label)}: ${node.text}`
    case "row":
    case "column":
    case "list":
      return node.children
        .map(nodeToLine)
        .filter((line) => line !== "")
        .join(" · ")
    case "card":
      return nodeToLine(node.child)
    case "tabs":
      return node.tabs.map(({ title, child }) => `${runsToText(title)}: ${nodeToLine(child)}`).join(" · ")
    case "table":
      return node.rows.map((row) => row.map(runsToText).join(" ")).join(" · ")
    case "chart":
      return node.chart.data.map(({ label, value }) => `${escapeText(label)} ${value}`).join(" · ")
    case "icon":
    case "divider":
    case "button":
    case "field":
      return ""
  }
}

function tableToMarkdown({ columns, rows, omitted }: Extract<ViewNode, { type: "table" }>): string {
  const toRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`
  const lines = [
    toRow(columns.map(({ title }) => escapeText(title))),
    `|${columns.map(({ align }) => (align === "end" ? "---:" : "---")).join("|")}|`,
    ...rows.map((row) => toRow(row.map(runsToText))),
  ]
  return omitted === 0 ? lines.join("\n") : `${lines.join("\n")}\n\n… (+${omitted})`
}

function runsToText(runs: Runs): string {
  return escapeText(runs.join(""))
}

function toLink(label: string, url: string): string {
  return `[${label}](<${url.replace(/[<>\\\s]/g, (unit) => encodeURIComponent(unit))}>)`
}

/** Returns one line with all Markdown syntax escaped. */
function escapeText(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]<>#|~!&]/g, "\\$&")
    .replace(/^(\d+)([.)])/, "$1\\$2")
    .replace(/^([-+=])/, "\\$1")
}
