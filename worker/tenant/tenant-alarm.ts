/** tenant-alarm.ts: the alarm of a tenant object, which all its background work shares. */

/** A part of the tenant object that schedules work for later. */
export interface AlarmSource {
  /** Returns when its next work is due, in milliseconds since 1970; null if there is none. */
  nextAlarmAt(): number | null
  /** Does the work that is due. Does not reject. */
  handleAlarm(now: number): Promise<void>
}

export class TenantAlarm {
  readonly #ctx: DurableObjectState
  readonly #sources: readonly AlarmSource[]

  constructor(ctx: DurableObjectState, sources: readonly AlarmSource[]) {
    this.#ctx = ctx
    this.#sources = sources
  }

  /** Sets the alarm to the earliest time at which a source has work, and stores it with the preceding writes. */
  schedule(): void {
    const { storage } = this.#ctx
    const next = Math.min(...this.#sources.map((source) => source.nextAlarmAt() ?? Infinity))
    this.#ctx.waitUntil(next === Infinity ? storage.deleteAlarm() : storage.setAlarm(next))
  }

  /** Runs the sources that are due. Call this when the alarm has fired. */
  async handle(now: number): Promise<void> {
    const due = this.#sources.filter((source) => (source.nextAlarmAt() ?? Infinity) <= now)
    await Promise.all(due.map((source) => source.handleAlarm(now)))
    this.schedule()
  }
}
