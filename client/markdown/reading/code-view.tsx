/**
 * code-view.tsx: fenced code with colours, line numbers and its buttons. SPEC MD2, MD11, MD17.
 *
 * Every line is an element, so that a delta changes one line, and the line numbers are CSS counters, so that they
 * aren't copied.
 */

import { Component, type ComponentChildren, type VNode } from "preact"
import { useMemo, useState } from "preact/hooks"
import { CopyButton } from "../../ui/copy-button.tsx"
import { actionText } from "../../words/parts/message-text.ts"
import { readingText } from "../../words/parts/reading-text.ts"
import { renderInGroups } from "../blocks/part-groups.tsx"
import { renderLongText } from "../long-text.tsx"
import { type CodeLine, CodeLines } from "./code-lines.ts"
import { CodeToolbar } from "./code-toolbar.tsx"
import { findLanguage } from "./languages.ts"
import { useSlicedChars } from "./sliced-chars.ts"

interface CodeViewProps {
  readonly lang: string
  readonly text: string
}

export function CodeView({ lang, text }: CodeViewProps): VNode {
  const language = findLanguage(lang)
  const codeLines = useMemo(() => new CodeLines(), [])
  const [isWrapped, setWrapped] = useState(false)
  const [isNumbered, setNumbered] = useState(false)
  const end = useSlicedChars(text)
  const lines = codeLines.read(language, end === text.length ? text : text.slice(0, end))
  return (
    <figure class="code" data-wrapped={isWrapped ? "" : undefined} data-numbered={isNumbered ? "" : undefined}>
      <figcaption>
        <span>{language?.name ?? lang}</span>
        <CodeToolbar
          getText={() => text}
          extension={language?.extension ?? "txt"}
          isWrapped={isWrapped}
          isNumbered={isNumbered}
          onWrap={setWrapped}
          onNumber={setNumbered}
        />
        <CopyButton
          getText={() => text}
          label={readingText.copyCode}
          text={actionText.copy}
          doneText={actionText.copied}
        />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block must be scrollable with the keyboard. */}
      <pre tabIndex={0}>
        <code>
          {renderInGroups(lines, renderLine)}
          {end < text.length && text.slice(end)}
        </code>
      </pre>
    </figure>
  )
}

function renderLine(line: CodeLine, at: number): VNode {
  return <Line key={at} line={line} />
}

class Line extends Component<{ readonly line: CodeLine }> {
  override shouldComponentUpdate(next: { readonly line: CodeLine }): boolean {
    return next.line !== this.props.line
  }

  override render({ line }: { readonly line: CodeLine }): ComponentChildren {
    return (
      <span class="line">
        {line.tokens.map(({ type, text }, at) =>
          type === null ? (
            renderLongText(text)
          ) : (
            <span key={at} class={`code-${type}`}>
              {text}
            </span>
          ),
        )}
      </span>
    )
  }
}
