/** card-limits.ts: the limits of the built-in cards. They have a file of their own because tools also use them. */

/** Maximum number of days in a forecast, so that payloads stay small. */
export const MAX_FORECAST_DAYS = 7

/** A chart with more points would be illegible. */
export const MAX_CHART_POINTS = 40
/** Lengths in UTF-16 code units. */
export const MAX_CHART_TITLE_CHARS = 120
export const MAX_CHART_LABEL_CHARS = 60
export const MAX_CHART_UNIT_CHARS = 12
/** Larger numbers would lose digits as floating-point values. */
export const MAX_CHART_FIGURE = 1e15

export const CHART_KINDS = ["bar", "line"] as const
