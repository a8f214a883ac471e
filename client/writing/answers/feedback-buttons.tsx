/**
 * feedback-buttons.tsx: the buttons that rate an answer. Pressing one rates the answer and opens a dialog that asks for
 * the reason. Source: SPEC WR11.
 */

import { useComputed } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { FeedbackInput, FeedbackRating } from "../../../shared/protocol/writing/feedback.ts"
import { ActionButton } from "../../ui/action-button.tsx"
import { writingText } from "../../words/writing-text.ts"
import { FeedbackDialog } from "./feedback-dialog.tsx"
import type { SessionFeedback } from "./feedback-store.ts"

interface FeedbackButtonsProps {
  readonly feedback: SessionFeedback
  readonly messageId: string
}

const THUMB_UP =
  "M6 9.5v7H3.5v-7zM6 9.5l3.2-6c1 0 1.8.8 1.8 1.8V8h4.2c.9 0 1.5.8 1.3 1.7l-1.2 5.5c-.1.7-.8 1.3-1.5 1.3H6"
const THUMB_DOWN =
  "M14 10.5v-7h2.5v7zM14 10.5l-3.2 6c-1 0-1.8-.8-1.8-1.8V12H4.8c-.9 0-1.5-.8-1.3-1.7l1.2-5.5c.1-.7.8-1.3 1.5-1.3H14"

export function FeedbackButtons({ feedback, messageId }: FeedbackButtonsProps): VNode {
  const [asked, setAsked] = useState<FeedbackRating | null>(null)
  const current = useComputed(() => feedback.byMessage.value.get(messageId) ?? null).value
  useEffect(() => void feedback.ensureLoaded(), [feedback])
  const change = (input: FeedbackInput | null): Promise<void> => feedback.change(messageId, input)
  const rate = (rating: FeedbackRating): void => {
    setAsked(rating)
    if (current?.rating === rating) return
    // A refusal is shown in the dialog when the reason is sent.
    change({ rating, reason: null, note: "" }).catch(() => {})
  }
  return (
    <>
      <ActionButton label={writingText.good} isPressed={current?.rating === "up"} onActivate={() => rate("up")}>
        <path d={THUMB_UP} />
      </ActionButton>
      <ActionButton label={writingText.bad} isPressed={current?.rating === "down"} onActivate={() => rate("down")}>
        <path d={THUMB_DOWN} />
      </ActionButton>
      {asked !== null && (
        <FeedbackDialog
          rating={asked}
          current={current?.rating === asked ? current : null}
          onChange={change}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  )
}
