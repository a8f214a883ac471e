/** reading-tools.ts: what code and tables show once this part of the page is loaded (blocks/deferred-tools.ts). */

export { CodeView } from "./code-view.tsx"
export { TableTools } from "./table-tools.tsx"
