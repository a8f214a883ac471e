/**
 * code-block.tsx: fenced code with its language. Highlighting, line numbers and the buttons are loaded on demand. SPEC
 * MD2, MD11.
 */

import type { VNode } from "preact"
import { readingTools, useReadingTools } from "./deferred-tools.ts"
import type { CodeSource } from "../markdown-blocks.ts"

export function CodeBlock({ lang, text }: Pick<CodeSource, "lang" | "text">): VNode {
  useReadingTools()
  const tools = readingTools.module.value
  if (tools !== null) return <tools.CodeView lang={lang} text={text} />
  return (
    <figure class="code">
      <figcaption>
        <span>{lang}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block must be scrollable with the keyboard. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}
