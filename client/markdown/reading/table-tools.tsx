/** table-tools.tsx: the buttons that copy a table, for a spreadsheet or as CSV. SPEC MD14. */

import type { VNode } from "preact"
import { CopyButton } from "../../ui/copy-button.tsx"
import { actionText } from "../../words/parts/message-text.ts"
import { readingText } from "../../words/parts/reading-text.ts"
import type { ProseToken } from "../markdown-lexer.ts"
import { cellsToCsv, cellsToTabSeparated, readTableCells } from "./table-text.ts"

interface TableToolsProps {
  readonly table: ProseToken
}

export function TableTools({ table }: TableToolsProps): VNode {
  return (
    <div class="table-tools">
      <CopyButton
        getText={() => cellsToTabSeparated(readTableCells(table))}
        label={readingText.copyTable}
        text={actionText.copy}
        doneText={actionText.copied}
      />
      <CopyButton
        getText={() => cellsToCsv(readTableCells(table))}
        label={readingText.copyCsv}
        text={readingText.csv}
        doneText={actionText.copied}
      />
    </div>
  )
}
