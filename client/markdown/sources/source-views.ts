/** source-views.ts: the list of an answer's sources and links to them, loaded on demand (deferred-sources.ts). */

export { SourceLink } from "./source-link.tsx"
export { SourceList } from "./source-list.tsx"
