/** notice.tsx: what the reader has to be told once; it goes by itself where it has happened, and when it is sent away. */

import { useSignalEffect } from "@preact/signals"
import type { VNode } from "preact"
import type { SessionList } from "../session/session-list.ts"

/** How long it stands there, in milliseconds; a fault longer. */
const NOTICE_DURATION_MS = 4_000
const FAULT_DURATION_MS = 12_000

export function NoticeBar({ sessions: sessionList }: { readonly sessions: SessionList }): VNode {
  const notice = sessionList.notice.value
  useSignalEffect(() => {
    const current = sessionList.notice.value
    if (current === null || current.isSticky) return undefined
    const timer = setTimeout(
      () => sessionList.dismissNotice(),
      current.isFault ? FAULT_DURATION_MS : NOTICE_DURATION_MS,
    )
    return () => clearTimeout(timer)
  })
  return (
    <div class="notice" role={notice?.isFault === true ? "alert" : "status"} data-fault={notice?.isFault}>
      {notice !== null && (
        <p>
          {notice.text}
          <button type="button" aria-label="Dismiss" onClick={() => sessionList.dismissNotice()}>
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <path d="M5.5 5.5l9 9M14.5 5.5l-9 9" />
            </svg>
          </button>
        </p>
      )}
    </div>
  )
}
