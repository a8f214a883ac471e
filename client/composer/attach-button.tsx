/** attach-button.tsx: the composer's file picker. Source: SPEC PG67. */

import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import { MAX_ATTACHMENTS } from "../../shared/limits.ts"
import { attachmentText } from "../words/page-text.ts"

export type OnFiles = (files: readonly File[]) => void

export function AttachButton({ onFiles }: { readonly onFiles: OnFiles }): VNode {
  const picker = useRef<HTMLInputElement>(null)
  return (
    <>
      <button
        type="button"
        class="attach"
        aria-label={attachmentText.attach}
        title={attachmentText.attachTitle(MAX_ATTACHMENTS)}
        onClick={() => picker.current?.click()}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M15.5 9.6l-5.4 5.3a3.4 3.4 0 0 1-4.8-4.8l5.7-5.6a2.2 2.2 0 0 1 3.2 3.2l-5.5 5.4a1.1 1.1 0 0 1-1.6-1.6l4.9-4.8" />
        </svg>
      </button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles(Array.from(event.currentTarget.files ?? []))
          // Without this, choosing the same file again would not fire a change event.
          event.currentTarget.value = ""
        }}
      />
    </>
  )
}
