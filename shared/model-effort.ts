/** model-effort.ts: how much a model thinks before it answers. SPEC TM7. */

/** A provider may refuse a level that it doesn't know. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const

/** The levels that users can choose for a message. */
export const EFFORT_CHOICES = ["low", "medium", "high"] as const

export type EffortChoice = (typeof EFFORT_CHOICES)[number]

export type Effort = (typeof EFFORTS)[number]
