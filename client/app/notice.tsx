/**
 * notice.tsx: the notice bar. A notice is shown until the user dismisses it or, unless it is sticky, for a few seconds.
 */

import { useSignalEffect } from "@preact/signals"
import type { VNode } from "preact"
import type { SessionList } from "../session/session-list.ts"
import { appText } from "../words/page-text.ts"

/** How long a notice is shown, in milliseconds. */
const NOTICE_DURATION_MS = 4_000
/** How long a notice about a failure is shown, in milliseconds. */
const FAULT_DURATION_MS = 12_000

export function NoticeBar({ sessionList }: { readonly sessionList: SessionList }): VNode {
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
    <div class="notice" role={notice?.isFault === true ? "alert" : "status"}>
      {notice !== null && (
        <p>
          {notice.text}
          {notice.action !== undefined && (
            <button type="button" class="undo" onClick={notice.action.run}>
              {notice.action.label}
            </button>
          )}
          <button type="button" aria-label={appText.dismiss} onClick={() => sessionList.dismissNotice()}>
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <path d="M5.5 5.5l9 9M14.5 5.5l-9 9" />
            </svg>
          </button>
        </p>
      )}
    </div>
  )
}
