/**
 * delta-window.ts: how long the text of a running answer is collected before it is written and sent.
 */

/**
 * How long deltas are collected before they are written and sent, in milliseconds: short enough to go unnoticed, long
 * enough to keep the row count low. The promised maximum is 150, and timers fire a few milliseconds late. SPEC ST3.
 */
export const DELTA_WINDOW_MS = 146

/**
 * Like DELTA_WINDOW_MS, but for an answer that has been visible for LONG_WINDOW_AFTER_MS. By then, the text is ahead of
 * the reader, and each window costs a row. The promised maximum is 300. SPEC ST3.
 */
export const LONG_DELTA_WINDOW_MS = 296
export const LONG_WINDOW_AFTER_MS = 1_000

/**
 * Amount of collected text that is written without waiting for the end of the window, in UTF-16 code units: one chunk.
 * SPEC ST3.
 */
export const DELTA_WINDOW_CHARS = 4096
