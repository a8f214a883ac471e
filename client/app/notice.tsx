/** notice.tsx: what the reader has to be told once; it goes by itself where it has happened, and when it is sent away. */

import { useSignalEffect } from "@preact/signals"
import type { VNode } from "preact"
import type { Sessions } from "../session/session-list.ts"

/** How long it stands there, in milliseconds; a fault longer. */
const NOTICE_MS = 4_000
const FAULT_MS = 12_000

export function NoticeLine({ sessions }: { readonly sessions: Sessions }): VNode {
  const notice = sessions.notice.value
  useSignalEffect(() => {
    const now = sessions.notice.value
    if (now === null || now.isLasting) return undefined
    const timer = setTimeout(() => sessions.hush(), now.isFault ? FAULT_MS : NOTICE_MS)
    return () => clearTimeout(timer)
  })
  return (
    <div class="notice" role={notice?.isFault === true ? "alert" : "status"} data-fault={notice?.isFault}>
      {notice !== null && (
        <p>
          {notice.text}
          <button type="button" aria-label="Dismiss" onClick={() => sessions.hush()}>
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <path d="M5.5 5.5l9 9M14.5 5.5l-9 9" />
            </svg>
          </button>
        </p>
      )}
    </div>
  )
}
