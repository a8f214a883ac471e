/**
 * session-alarm.ts: a session object's alarm, which resumes work left unfinished when a process was killed.
 */

export interface SessionAlarm {
  /** Makes sure that the alarm fires within `delayMs`. */
  arm(): void
  /** Makes sure that the alarm fires by `atMs`. An alarm set for an earlier time is kept, whichever process set it. */
  armBy(atMs: number): void
  /**
   * Called when the alarm has fired. Sets the next alarm for `atMs`, or for `delayMs` from now if that time has passed.
   * With `Infinity`, no alarm is set.
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
      // An alarm set for the end of a long wait is moved to an earlier time.
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
