/** transfer-progress.tsx: the progress of an upload or a download in this tab, with a button that stops it. */

import type { VNode } from "preact"
import { adminText } from "../../words/admin-text.ts"
import { formatSize } from "../../words/format/file-size.ts"

interface TransferProgressProps {
  readonly label: string
  readonly doneBytes: number
  /** 0 if it isn't known yet. */
  readonly ofBytes: number
  readonly onStop: () => void
}

/** Not a live region, because the counter would be announced with every file; see announced-status.tsx. */
export function TransferProgress({ label, doneBytes, ofBytes, onStop }: TransferProgressProps): VNode {
  return (
    <div class="transfer">
      {/* Without a value, the bar is indeterminate. */}
      <progress {...(doneBytes > 0 ? { value: doneBytes, max: ofBytes } : {})} aria-label={label} />
      <p>
        {label}… {ofBytes > 0 && adminText.bytesOf(formatSize(doneBytes), formatSize(ofBytes))}
      </p>
      <p>
        <button type="button" onClick={onStop}>
          {adminText.stop}
        </button>
      </p>
    </div>
  )
}
