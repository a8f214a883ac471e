/** message-notes.tsx: the notes below a queued message and an incomplete answer, with their buttons. */

import type { VNode } from "preact"
import type { WireMessage } from "../../../shared/protocol/server-frame.ts"
import { focusRequests } from "../../ui/focus.ts"
import { describeEndReason } from "../../words/format/end-reason.ts"
import { actionText, formatMessageStatus, messageText } from "../../words/parts/message-text.ts"
import { findUserNeed } from "../calls/user-need.ts"
import { isFromProducer, regenerateAndFocus, useIsDisabled, useIsLastAnswer } from "./change-state.ts"
import { useChangeRequests } from "../transcript-requests.ts"

/** The note below a queued message, with a button that withdraws it. */
export function QueuedNote({ id }: { readonly id: string }): VNode {
  const requests = useChangeRequests()
  const isWithdrawing = requests?.commands.pending.value.has(id) === true
  /** Withdraws the message. The text and the focus return to the composer. */
  const withdrawAndFocus = (): void => {
    requests?.withdrawMessage(id)
    focusRequests.value++
  }
  return (
    <p class="note">
      {messageText.queued}{" "}
      {requests !== null && (
        <button type="button" aria-disabled={isWithdrawing} onClick={withdrawAndFocus}>
          {isWithdrawing ? actionText.cancelling : actionText.cancel}
        </button>
      )}
    </p>
  )
}

/** Says why an answer isn't complete, with a button that continues or repeats it. */
export function StatusNote({ message }: { readonly message: WireMessage }): VNode | null {
  const requests = useChangeRequests()
  const { id, status, reason, segments } = message
  const isLast = useIsLastAnswer(requests, id)
  const isDisabled = useIsDisabled(requests, id)
  const text = formatMessageStatus(status, findUserNeed(segments))
  if (text === null) return null
  const actionLabel = isFromProducer(message) ? null : getActionLabel(message)
  const runAction = (): void => {
    if (isDisabled || requests === null) return
    if (actionLabel === actionText.regenerate) return regenerateAndFocus(requests, id)
    requests.retryAnswer(id)
    focusRequests.value++
  }
  return (
    <p class="note" data-note={status}>
      {reason === null ? text : describeEndReason(reason)}
      {isLast && actionLabel !== null && " "}
      {isLast && actionLabel !== null && (
        <button type="button" aria-disabled={isDisabled} onClick={runAction}>
          {actionLabel}
        </button>
      )}
    </p>
  )
}

/**
 * Returns the label of the button; null if there is none. A stopped answer without content is regenerated. An answer
 * that was cut off is continued after its last text. SPEC WR1.
 */
function getActionLabel({ status, reason, segments }: WireMessage): string | null {
  if (status === "cancelled") return segments.length > 0 ? actionText.continue : actionText.regenerate
  if (status === "interrupted" || /cut_off|turn_t/.test(reason ?? "")) return actionText.continue
  return status === "failed" ? actionText.tryAgain : null
}
