/**
 * json-editor.tsx: a field for JSON text with line numbers. The line with a problem is marked, and a button moves to
 * it.
 */

import type { VNode } from "preact"
import { useId, useMemo, useRef } from "preact/hooks"
import { cardsText } from "../../words/admin/cards-text.ts"
import type { TextProblem } from "./json-range.ts"

interface JsonEditorProps {
  readonly label: string
  readonly value: string
  readonly rows: number
  /** Null if the text has no problem. */
  readonly problem: TextProblem | null
  readonly onChange: (value: string) => void
}

export function JsonEditor({ label, value, rows, problem, onChange }: JsonEditorProps): VNode {
  const id = useId()
  const fieldRef = useRef<HTMLTextAreaElement>(null)
  const linesRef = useRef<HTMLDivElement>(null)
  const numbers = useMemo(() => listNumbers(value), [value])
  return (
    <div class="field json-field">
      <label for={id}>{label}</label>
      <div class="json-box" data-flawed={problem === null ? undefined : ""}>
        <div class="json-lines" ref={linesRef} aria-hidden="true">
          {numbers}
          {problem !== null && <span class="json-mark" style={{ "--line": problem.line - 1 }} />}
        </div>
        <textarea
          id={id}
          ref={fieldRef}
          dir="ltr"
          rows={rows}
          wrap="off"
          value={value}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-invalid={problem !== null}
          aria-describedby={`${id}-problem`}
          onInput={(event) => onChange(event.currentTarget.value)}
          onScroll={(event) => {
            if (linesRef.current !== null) linesRef.current.scrollTop = event.currentTarget.scrollTop
          }}
        />
      </div>
      <div id={`${id}-problem`} class="json-problem" role="status">
        {problem !== null && (
          <p>
            <button type="button" onClick={() => showRange(fieldRef.current, problem)}>
              {cardsText.line(problem.line)}
            </button>{" "}
            <code dir="ltr">{problem.pointer === "" ? cardsText.whole : problem.pointer}</code> {problem.problem}
          </p>
        )}
      </div>
    </div>
  )
}

function listNumbers(text: string): string {
  let lines = "1"
  let count = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += `\n${++count}`
  return lines
}

/** Selects the text with the problem, and scrolls its line into the upper third of the field. */
function showRange(field: HTMLTextAreaElement | null, { start, end, line }: TextProblem): void {
  if (field === null) return
  field.focus()
  const lineEnd = field.value.indexOf("\n", start)
  field.setSelectionRange(start, Math.min(end, lineEnd < 0 ? end : lineEnd))
  const lineHeight = Number.parseFloat(getComputedStyle(field).lineHeight) || 20
  field.scrollTop = Math.max(0, (line - 1) * lineHeight - field.clientHeight / 3)
}
