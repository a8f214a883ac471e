/**
 * feedback.ts: a user's feedback on an answer, its parser, and the HTTP bodies that contain it.
 *
 * page → FEEDBACK → row → record of an export. Source: SPEC WR10 to WR13.
 */

import * as v from "valibot"

/** Maximum length of a note, in UTF-16 code units: a few paragraphs. */
export const MAX_FEEDBACK_NOTE_CHARS = 1_000

export const FEEDBACK_RATINGS = ["up", "down"] as const

/** Why an answer was good or bad. The list is fixed, so that the reasons can be counted. */
export const FEEDBACK_REASONS = ["incorrect", "incomplete", "ignored", "style", "unsafe", "slow", "other"] as const

export type FeedbackRating = (typeof FEEDBACK_RATINGS)[number]
export type FeedbackReason = (typeof FEEDBACK_REASONS)[number]

/** The body of a request that sets feedback. */
export const feedbackInputSchema = v.object({
  rating: v.picklist(FEEDBACK_RATINGS),
  reason: v.optional(v.nullable(v.picklist(FEEDBACK_REASONS)), null),
  note: v.optional(v.pipe(v.string(), v.maxLength(MAX_FEEDBACK_NOTE_CHARS)), ""),
})

export type FeedbackInput = v.InferOutput<typeof feedbackInputSchema>

/** Feedback as it is stored and exported. */
export const feedbackSchema = v.object({
  ...feedbackInputSchema.entries,
  /** When the feedback was given or last changed, in ISO 8601. */
  at: v.pipe(v.string(), v.maxLength(40)),
})

export type Feedback = v.InferOutput<typeof feedbackSchema>

/** The feedback on one answer. */
export interface AnswerFeedback extends Feedback {
  /** The id of the answer. */
  readonly message: string
}

/** The response to `GET /v1/sessions/:id/feedback`. */
export interface FeedbackList {
  /** The feedback on the oldest answer comes first. */
  readonly feedback: readonly AnswerFeedback[]
}

/** The amount of feedback on one agent's answers in one month. */
export interface FeedbackCount {
  readonly agent: string
  /** As YYYY-MM, in UTC. */
  readonly month: string
  readonly up: number
  readonly down: number
  /** How often each reason was given. Reasons that nobody gave are absent. */
  readonly reasons: Readonly<Partial<Record<FeedbackReason, number>>>
}
