/** snippet-text.tsx: an excerpt from a message, with the matching words marked. */

import type { VNode } from "preact"
import type { SnippetPart } from "../../shared/protocol/http-body.ts"

export function SnippetText({ parts }: { readonly parts: readonly SnippetPart[] }): VNode {
  return (
    <span class="snippet" dir="auto">
      {parts.map(({ text, hit }, at) => (hit ? <mark key={at}>{text}</mark> : text))}
    </span>
  )
}
