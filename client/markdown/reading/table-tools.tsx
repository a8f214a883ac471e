/** table-tools.tsx: the buttons that copy a table, for a spreadsheet or as CSV. SPEC MD14. */

import type { VNode } from "preact"
import { CopyButton } from "../../ui/copy-button.tsx"
import { actionText, markdownText } from "../../words/transcript-text.ts"
import type { ProseToken } from "../markdown-lexer.ts"
import { cellsToCsv, cellsToTabSeparated, readTableCells } from "./table-text.ts"

export function TableTools({ table }: { readonly table: ProseToken }): VNode {
  return (
    <div class="table-tools">
      <CopyButton
        getText={() => cellsToTabSeparated(readTableCells(table))}
        label={markdownText.copyTable}
        text={actionText.copy}
        doneText={actionText.copied}
      />
      <CopyButton
        getText={() => cellsToCsv(readTableCells(table))}
        label={markdownText.copyCsv}
        text={markdownText.csv}
        doneText={actionText.copied}
      />
    </div>
  )
}
