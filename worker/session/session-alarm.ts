/**
 * session-alarm.ts: the one alarm of an object: it wakes a process that took over from a killed one.
 *
 * turns, files → ALARM → storage
 */

export interface SessionAlarm {
  /** Makes sure that it rings soon. */
  arm(): void
  /** It rang: next at this time, or soon where that has passed; Infinity: not again. */
  rescheduleAt(atMs: number): void
  /** It is another session's by now. */
  reset(): void
}

export function createSessionAlarm(ctx: DurableObjectState, delayMs: number): SessionAlarm {
  let alarmAtMs = 0
  const setAlarm = (atMs: number): void => {
    alarmAtMs = atMs
    ctx.waitUntil(ctx.storage.setAlarm(atMs))
  }
  return {
    arm() {
      const now = Date.now()
      const next = now + delayMs
      // Also where one is set for the end of a long wait, which is over now.
      if (alarmAtMs <= now || alarmAtMs > next) setAlarm(next)
    },
    rescheduleAt(atMs) {
      alarmAtMs = 0
      if (atMs < Infinity) setAlarm(atMs > Date.now() ? atMs : Date.now() + delayMs)
    },
    reset() {
      alarmAtMs = 0
    },
  }
}
