/** view-table.tsx: a card's table. The first column contains the row headers. */

import type { VNode } from "preact"
import type { ViewNode } from "../../../shared/card/view/view-node.ts"
import { viewText } from "../../words/parts/view-text.ts"

interface ViewTableProps {
  readonly node: Extract<ViewNode, { readonly type: "table" }>
}

/** A table; if it is wide, it scrolls inside its own box. */
export function ViewTable({ node: { columns, rows, omitted } }: ViewTableProps): VNode {
  return (
    <>
      <div class="view-scroll">
        <table>
          <thead>
            <tr>
              {columns.map(({ title, align }, at) => (
                <th key={at} scope="col" data-align={align}>
                  <bdi>{title}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {row.map((runs, column) =>
                  column === 0 ? (
                    <th key={column} scope="row" data-align={columns[column]?.align}>
                      <bdi>{runs}</bdi>
                    </th>
                  ) : (
                    <td key={column} data-align={columns[column]?.align}>
                      <bdi>{runs}</bdi>
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {omitted > 0 && <p class="view-text view-caption">{viewText.more(omitted)}</p>}
    </>
  )
}
