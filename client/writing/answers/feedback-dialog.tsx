/** feedback-dialog.tsx: asks for the reason for a rating, and removes a rating. Source: SPEC WR11. */

import type { VNode } from "preact"
import { useState } from "preact/hooks"
import {
  FEEDBACK_REASONS,
  type FeedbackInput,
  type FeedbackRating,
  type FeedbackReason,
  MAX_FEEDBACK_NOTE_CHARS,
} from "../../../shared/protocol/writing/feedback.ts"
import { describeError } from "../../net/http-request.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { writingText } from "../../words/writing-text.ts"

interface FeedbackDialogProps {
  readonly rating: FeedbackRating
  readonly current: FeedbackInput | null
  /** Saves the feedback, or removes it if `input` is null. Rejects if the server refuses the change. */
  readonly onChange: (input: FeedbackInput | null) => Promise<void>
  readonly onClose: () => void
}

export function FeedbackDialog({ rating, current, onChange, onClose }: FeedbackDialogProps): VNode {
  const [reason, setReason] = useState(current?.reason ?? null)
  const [note, setNote] = useState(current?.note ?? "")
  const [error, setError] = useState("")
  const send = (input: FeedbackInput | null): void => {
    onChange(input).then(onClose, (refusal: unknown) => setError(describeError(refusal)))
  }
  return (
    <Dialog title={rating === "up" ? writingText.goodTitle : writingText.badTitle} onCancel={onClose}>
      <form
        class="feedback"
        onSubmit={(event) => {
          event.preventDefault()
          send({ rating, reason, note })
        }}
      >
        {rating === "down" && <ReasonChoice chosen={reason} onChoose={setReason} />}
        <label>
          {writingText.note}
          <textarea
            rows={3}
            maxLength={MAX_FEEDBACK_NOTE_CHARS}
            dir="auto"
            value={note}
            onInput={(event) => setNote(event.currentTarget.value)}
          />
        </label>
        <p class="lead">{writingText.feedbackHint}</p>
        {error !== "" && (
          <p class="fault" role="alert">
            {error}
          </p>
        )}
        <div class="ways">
          {current !== null && (
            <button type="button" onClick={() => send(null)}>
              {writingText.removeFeedback}
            </button>
          )}
          <button type="button" onClick={onClose}>
            {writingText.cancel}
          </button>
          <button type="submit" class="firm">
            {writingText.send}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface ReasonChoiceProps {
  readonly chosen: FeedbackReason | null
  readonly onChoose: (reason: FeedbackReason) => void
}

function ReasonChoice({ chosen, onChoose }: ReasonChoiceProps): VNode {
  return (
    <fieldset aria-label={writingText.reason}>
      {FEEDBACK_REASONS.map((reason, at) => (
        <label key={reason}>
          <input
            type="radio"
            name="reason"
            checked={chosen === reason}
            data-first={at === 0 ? "" : undefined}
            onChange={() => onChoose(reason)}
          />
          {writingText.reasons[reason]}
        </label>
      ))}
    </fieldset>
  )
}
