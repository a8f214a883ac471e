/** reading-tools.ts: the reading tools, which are loaded when text first needs them (blocks/deferred-tools.ts). */

export { AlertView, readAlert } from "./alert-view.tsx"
export { CodeView } from "./code-view.tsx"
export { createFootnoteFinder, FootnoteList } from "./footnote-list.tsx"
export { Formula } from "./formula.tsx"
export { lexGrownProse } from "./grown-prose.ts"
export { TableTools } from "./table-tools.tsx"
