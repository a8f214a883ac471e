/**
 * session-alarm.ts: the one alarm of an object: it wakes a process that took over from a killed one.
 *
 * turns, files → ALARM → storage
 */

export interface Alarm {
  /** Makes sure that it rings soon. */
  arm(): void
  /** It rang: next at this time, or soon where that has passed; Infinity: not again. */
  again(at: number): void
  /** It is another session's by now. */
  forget(): void
}

export function createAlarm(ctx: DurableObjectState, soonMs: number): Alarm {
  let set = 0
  const setTo = (at: number): void => {
    set = at
    ctx.waitUntil(ctx.storage.setAlarm(at))
  }
  return {
    arm() {
      const now = Date.now()
      const next = now + soonMs
      // Also where one is set for the end of a long wait, which is over now.
      if (set <= now || set > next) setTo(next)
    },
    again(at) {
      set = 0
      if (at < Infinity) setTo(at > Date.now() ? at : Date.now() + soonMs)
    },
    forget() {
      set = 0
    },
  }
}
