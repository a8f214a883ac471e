/** code-toolbar.tsx: the buttons of a code block that wrap its lines, number them and save it as a file. SPEC MD11. */

import type { VNode } from "preact"
import { saveBlob } from "../../ui/save-file.ts"
import { readingText } from "../../words/parts/reading-text.ts"

interface CodeToolbarProps {
  readonly getText: () => string
  /** The extension of the file, without the dot. */
  readonly extension: string
  readonly isWrapped: boolean
  readonly isNumbered: boolean
  readonly onWrap: (isWrapped: boolean) => void
  readonly onNumber: (isNumbered: boolean) => void
}

export function CodeToolbar(props: CodeToolbarProps): VNode {
  const { getText, extension, isWrapped, isNumbered, onWrap, onNumber } = props
  const downloadCode = (): void => {
    saveBlob(new Blob([`${getText()}\n`], { type: "text/plain;charset=utf-8" }), `code.${extension}`)
  }
  return (
    <span class="code-tools">
      <ToolButton
        label={readingText.lineNumbers}
        isPressed={isNumbered}
        path="M8 5.5h9M8 10h9M8 14.5h9M3 4.5l1-.7v3.4M3 9h1.6L3 11.2h1.7M3 13.3h1.6l-.8 1a1 1 0 11-.9 1.6"
        onActivate={() => onNumber(!isNumbered)}
      />
      <ToolButton
        label={readingText.wrapLines}
        isPressed={isWrapped}
        path="M3 5h14M3 10h11a2.5 2.5 0 010 5h-3M12.5 13L10.5 15l2 2M3 15h4"
        onActivate={() => onWrap(!isWrapped)}
      />
      <ToolButton
        label={readingText.downloadCode}
        path="M10 3.5v9M6.5 9.5L10 13l3.5-3.5M4 16.5h12"
        onActivate={downloadCode}
      />
    </span>
  )
}

interface ToolButtonProps {
  readonly label: string
  readonly isPressed?: boolean
  /** The path of the icon. */
  readonly path: string
  readonly onActivate: () => void
}

function ToolButton({ label, isPressed, path, onActivate }: ToolButtonProps): VNode {
  return (
    <button type="button" aria-label={label} title={label} aria-pressed={isPressed} onClick={onActivate}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d={path} />
      </svg>
    </button>
  )
}
