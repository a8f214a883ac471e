/**
 * session-alarm.ts: the alarm of a session object. It continues work that a killed process left behind.
 */

export interface SessionAlarm {
  /** Makes sure that the alarm fires within `delayMs`. */
  arm(): void
  /** Makes sure that the alarm fires by `atMs`. An earlier one stays, even if it was set by an earlier process. */
  armBy(atMs: number): void
  /**
   * Called when the alarm has fired. Sets the next alarm for `atMs`, or in `delayMs` if that time is past. Infinity sets
   * none.
   */
  rescheduleAt(atMs: number): void
  /** Called when the session is erased. Forgets the time of the current alarm. */
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
      // An alarm set for the end of a long wait is moved forward.
      if (alarmAtMs <= now || alarmAtMs > next) setAlarm(next)
    },
    armBy(atMs) {
      const isArmed = (): boolean => alarmAtMs > Date.now() && alarmAtMs <= atMs
      const armIfLater = async (): Promise<void> => {
        const stored = await ctx.storage.getAlarm()
        if (!isArmed() && (stored === null || stored > atMs)) setAlarm(atMs)
      }
      if (!isArmed()) ctx.waitUntil(armIfLater())
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
