/**
 * tenant-jobs.ts: the jobs of a tenant object: exports, imports, erasures and backups. The alarm runs them.
 */

import type { LeavingHost } from "../leaving/leaving-host.ts"
import type { TenantLeaving } from "../leaving/tenant-leaving.ts"
import type { AlarmSource } from "./tenant-alarm.ts"
import type { TenantHost } from "./tenant-host.ts"

/** Delay after which the alarm runs again if the process is killed during a job, in milliseconds. */
const JOB_STALL_MS = 10_000

/** Loaded on demand, because most objects never run a job. Shared by all tenants of the isolate. */
let jobRunner: typeof import("../leaving/job-runner.ts") | undefined

export class TenantJobs implements AlarmSource {
  readonly #host: TenantHost
  #leavingHost: LeavingHost | undefined

  constructor(host: TenantHost) {
    this.#host = host
  }

  nextAlarmAt(): number | null {
    return this.#host.jobs.findNextDue()
  }

  async handleAlarm(): Promise<void> {
    await this.#host.storage.setAlarm(Date.now() + JOB_STALL_MS)
    jobRunner ??= await import("../leaving/job-runner.ts")
    await jobRunner.runDueJobs(await this.#openHost())
  }

  /** Runs a read-only call. `none` is the result for a tenant without tables. */
  async read<T>(none: T, read: (leaving: TenantLeaving) => T): Promise<T> {
    return this.#host.tables.exist() ? read(await this.#openLeaving()) : none
  }

  /** Runs a call that may add or remove jobs. The alarm runs them. */
  async change<T>(change: (leaving: TenantLeaving) => T | Promise<T>): Promise<T> {
    this.#host.tables.create()
    const changed = await change(await this.#openLeaving())
    this.#host.scheduleAlarm()
    return changed
  }

  async #openLeaving(): Promise<TenantLeaving> {
    const { TenantLeaving } = await import("../leaving/tenant-leaving.ts")
    return new TenantLeaving(await this.#openHost())
  }

  async #openHost(): Promise<LeavingHost> {
    const { createTenantContent } = await import("./tenant-content.ts")
    const { env, storage, jobs: rows, scheduleAlarm: armAlarm } = this.#host
    this.#leavingHost ??= { env, storage, content: createTenantContent(this.#host), rows, now: Date.now, armAlarm }
    return this.#leavingHost
  }
}
