/** show-more-button.tsx: the button that shows the next part of long text or of a list. SPEC PF2. */

import { createContext, type VNode } from "preact"
import { useContext } from "preact/hooks"
import { transcriptText } from "../words/transcript-text.ts"

/** Called before more is shown. The added text is read from its beginning, so the view must not scroll to its end. */
export const BeforeShowMoreContext = createContext<() => void>(() => {})

interface ShowMoreButtonProps {
  readonly text: string
  readonly showMore: () => void
}

export function ShowMoreButton({ text, showMore }: ShowMoreButtonProps): VNode {
  const prepare = useContext(BeforeShowMoreContext)
  const onClick = (): void => {
    prepare()
    showMore()
  }
  return (
    <>
      <button type="button" class="show-more" onClick={onClick}>
        {text}
      </button>
      <p class="printed">{transcriptText.notPrinted}</p>
    </>
  )
}
