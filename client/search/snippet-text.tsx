/** snippet-text.tsx: an excerpt from a message, with the matching words marked. */

import type { VNode } from "preact"
import type { SearchHit } from "../../shared/protocol/http-body.ts"
import { toPlainSnippet } from "./plain-snippet.ts"

/** What users wrote is shown as they wrote it. */
export function SnippetText({ hit: { role, snippet } }: { readonly hit: Pick<SearchHit, "role" | "snippet"> }): VNode {
  const parts = role === "assistant" ? toPlainSnippet(snippet) : snippet
  return (
    <span class="snippet" dir="auto">
      {parts.map(({ text, hit }, at) => (hit ? <mark key={at}>{text}</mark> : text))}
    </span>
  )
}
