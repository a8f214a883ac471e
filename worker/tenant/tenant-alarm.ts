/** tenant-alarm.ts: the alarm of a tenant object, shared by all its background work. */

/** Something that has work to do later. */
export interface AlarmSource {
  /** When it wants to run next, in milliseconds since 1970; null if it has nothing to do. */
  nextAlarmAt(): number | null
  /** Does what is due. Does not reject. */
  handleAlarm(now: number): Promise<void>
}

export class TenantAlarm {
  readonly #ctx: DurableObjectState
  readonly #sources: readonly AlarmSource[]

  constructor(ctx: DurableObjectState, sources: readonly AlarmSource[]) {
    this.#ctx = ctx
    this.#sources = sources
  }

  /** Sets the alarm to the earliest time that a source wants. Stored together with the writes before it. */
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
