/** issuer-loader.ts: loads the code for the OpenID providers of a tenant on demand, because most tenants have none. */

import type { AlarmSource } from "./tenant-alarm.ts"
import type { TenantHost } from "./tenant-host.ts"
import type { TenantIssuers } from "./tenant-issuers.ts"

export class IssuerLoader implements AlarmSource {
  readonly #host: TenantHost
  #issuers: TenantIssuers | null = null

  constructor(host: TenantHost) {
    this.#host = host
  }

  /** Opens the issuers for reading. Returns null if nothing was ever stored in the tenant object. */
  async read(): Promise<TenantIssuers | null> {
    return this.#host.tables.exist() ? await this.#load() : null
  }

  /** Opens the issuers for a change, which may write the first row. */
  async open(): Promise<TenantIssuers> {
    this.#host.tables.create()
    return await this.#load()
  }

  async #load(): Promise<TenantIssuers> {
    const { TenantIssuers: Issuers } = await import("./tenant-issuers.ts")
    this.#issuers ??= new Issuers(this.#host)
    return this.#issuers
  }

  nextAlarmAt(): number | null {
    return this.#host.issuers.findNextRelease()
  }

  async handleAlarm(now: number): Promise<void> {
    await (await this.read())?.releaseDueClaims(now)
  }
}
