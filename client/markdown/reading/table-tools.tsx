/** table-tools.tsx: the buttons that copy a table, for a spreadsheet or as CSV. SPEC MD14. */

import type { VNode } from "preact"
import type { CopyButton } from "../../ui/copy-button.tsx"
import type { actionText, markdownText } from "../../words/transcript-text.ts"
import type { ProseToken } from "../markdown-lexer.ts"
import { cellsToCsv, cellsToTabSeparated, readTableCells } from "./table-text.ts"

interface TableToolsProps {
  readonly table: ProseToken
  readonly words: typeof markdownText
  readonly actions: typeof actionText
  readonly Button: typeof CopyButton
}

export function TableTools({ table, words, actions, Button }: TableToolsProps): VNode {
  return (
    <div class="table-tools">
      <Button
        getText={() => cellsToTabSeparated(readTableCells(table))}
        label={words.copyTable}
        text={actions.copy}
        doneText={actions.copied}
      />
      <Button
        getText={() => cellsToCsv(readTableCells(table))}
        label={words.copyCsv}
        text={words.csv}
        doneText={actions.copied}
      />
    </div>
  )
}
