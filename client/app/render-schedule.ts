/**
 * render-schedule.ts: decides when the changes of a live conversation are rendered.
 *
 * The frame after a key press shows the typed character. Changes wait for the frame after that, so that they don't
 * delay the character. Source: SPEC PF15.
 */

/** Delay before a hidden tab renders, in milliseconds. Hidden tabs have no animation frames. */
const HIDDEN_RENDER_MS = 250
/** A key press belongs to the frame that begins within this time after it, in milliseconds. */
const KEY_FRAME_MS = 25

/** The time of the last key press, in milliseconds since the page began to load; 0 if there was none. */
let keyAt = 0

/** Handles the `keydown` event. */
export function noteKeyPress({ timeStamp }: { readonly timeStamp: number }): void {
  keyAt = timeStamp
}

/** Calls `render` in the next animation frame, or in the one after it if the user has just pressed a key. */
export function scheduleRender(render: () => void): void {
  if (document.hidden) setTimeout(render, HIDDEN_RENDER_MS)
  else requestAnimationFrame((frameAt) => (frameAt - keyAt < KEY_FRAME_MS ? requestAnimationFrame(render) : render()))
}
