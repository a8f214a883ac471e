/**
 * code-block.tsx: fenced code with its language and a copy button. Highlighting, line numbers and the other buttons are
 * loaded on demand. SPEC MD2, MD11.
 */

import type { VNode } from "preact"
import { CopyButton } from "../../ui/copy-button.tsx"
import { actionText, markdownText } from "../../words/transcript-text.ts"
import { readingTools, useReadingTools } from "./deferred-tools.ts"
import type { CodeSource } from "../markdown-blocks.ts"

export function CodeBlock({ lang, text }: Pick<CodeSource, "lang" | "text">): VNode {
  useReadingTools()
  const tools = readingTools.module.value
  const copyButton = (
    <CopyButton
      getText={() => text}
      label={markdownText.copyCode}
      text={actionText.copy}
      doneText={actionText.copied}
    />
  )
  if (tools !== null) return <tools.CodeView lang={lang} text={text} copyButton={copyButton} words={markdownText} />
  return (
    <figure class="code">
      <figcaption>
        <span>{lang}</span>
        {copyButton}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block must scroll with the keyboard. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}
