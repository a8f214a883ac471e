/**
 * table-view.tsx: a Markdown table that scrolls in its own box. The buttons that copy it are loaded on demand. SPEC
 * MD14.
 */

import { Component, type ComponentChildren, h, type VNode } from "preact"
import { renderInline } from "../markdown-inline.tsx"
import type { ProseToken, TableCell } from "../markdown-lexer.ts"
import { renderInGroups } from "./part-groups.tsx"
import { readingTools, useReadingTools } from "./deferred-tools.ts"
import { findAutoDirection, findDirection } from "../text-direction.ts"

type TableRow = readonly TableCell[]

export function TableView({ table }: { readonly table: ProseToken }): VNode {
  useReadingTools()
  const tools = readingTools.module.value
  return (
    <div class="table-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table must be scrollable with the keyboard. */}
      <div class="table" dir={findDirection([table])} tabIndex={0}>
        <table>
          <thead>
            <tr>{table.header?.map(renderCell("th"))}</tr>
          </thead>
          <tbody>{renderInGroups(table.rows ?? [], renderRow)}</tbody>
        </table>
      </div>
      {tools !== null && <tools.TableTools table={table} />}
    </div>
  )
}

function renderRow(row: TableRow, at: number): VNode {
  return <Row key={at} row={row} />
}

class Row extends Component<{ readonly row: TableRow }> {
  override shouldComponentUpdate(next: { readonly row: TableRow }): boolean {
    return next.row !== this.props.row
  }

  override render({ row }: { readonly row: TableRow }): VNode {
    return <tr>{row.map(renderCell("td"))}</tr>
  }
}

function renderCell(name: "th" | "td") {
  return (cell: TableCell, at: number): ComponentChildren =>
    h(
      name,
      { key: at, dir: findAutoDirection(cell.tokens), class: cell.align === null ? undefined : `to-${cell.align}` },
      ...renderInline(cell.tokens),
    )
}
