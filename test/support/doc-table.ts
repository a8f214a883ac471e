/** doc-table.ts: inserts generated Markdown tables into pages of docs/. */

const toRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`

export function createTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [toRow(head), `|${"---|".repeat(head.length)}`, ...rows.map(toRow)].join("\n")
}

/** Inserts a table after its marker, replacing the existing one. Throws if the page doesn't contain the marker. */
export function putTable(page: string, marker: string, table: string): string {
  const pattern = new RegExp(`(<!-- ${marker} -->\n)(?:\n(?:\\|.*\n)*\n?)?`)
  if (!pattern.test(page)) throw new Error(`no marker ${marker}`)
  return page.replace(pattern, (_, start: string) => `${start}\n${table}\n\n`)
}
