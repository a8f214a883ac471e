/** row-list.tsx: a section's introduction, the button that adds a row, and the rows. */

import type { VNode } from "preact"
import type { Loaded } from "./admin-state.ts"
import { Pending } from "./form-fields.tsx"

interface RowListProps<Row> {
  readonly text: { readonly lead: string; readonly add: string; readonly empty?: string }
  /** The list's accessible name. */
  readonly label: string
  readonly list: Pick<Loaded<unknown>, "value" | "fault" | "reload">
  /** Undefined until the list has been loaded. */
  readonly rows: readonly Row[] | undefined
  readonly onAdd: () => void
  /** Renders a row as a list item with a key. */
  readonly children: (row: Row) => VNode
}

export function RowList<Row>({ text, label, list, rows, onAdd, children }: RowListProps<Row>): VNode {
  return (
    <>
      <p class="lead">{text.lead}</p>
      <p>
        <button type="button" class="firm" onClick={onAdd}>
          {text.add}
        </button>
      </p>
      <Pending of={list} />
      {text.empty !== undefined && rows?.length === 0 && <p class="pending">{text.empty}</p>}
      <ul class="rows" aria-label={label}>
        {rows?.map(children)}
      </ul>
    </>
  )
}
