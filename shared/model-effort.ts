/** model-effort.ts: how much a model thinks before it answers. SPEC TM7. */

/** A provider may refuse a level that it doesn't know. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const

export type Effort = (typeof EFFORTS)[number]
