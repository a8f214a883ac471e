/**
 * tenant-users.ts: registers the users of a tenant on first contact, and lists them, in the tenant object. The alarm
 * writes the search keys of users who were added before search keys existed.
 */

import type { NewUser, TenantUser } from "../settings/tenant-rpc.ts"
import { createUser } from "./rows/user-rows.ts"
import type { AlarmSource } from "./tenant-alarm.ts"
import type { TenantHost } from "./tenant-host.ts"
import type { UserAdministration } from "./user-administration.ts"

export class TenantUsers implements AlarmSource {
  readonly #host: TenantHost

  constructor(host: TenantHost) {
    this.#host = host
  }

  /** Registers a user. `isLeaving`: the tenant is leaving, so a new user of an issuer was not added. */
  register(user: NewUser): TenantUser & { readonly isLeaving?: true } {
    // A request that was admitted before the tenant was erased must not leave a row behind.
    if (this.#host.isErased()) return createUser(user, Date.now())
    const refused = user.issuer === undefined ? null : this.#host.refuseNewUser(user)
    if (refused !== null) return { ...refused, isLeaving: true }
    this.#host.tables.create()
    return this.#host.users.register(user, Date.now())
  }

  find(id: string): TenantUser | null {
    return this.#host.tables.exist() ? this.#host.users.find(id) : null
  }

  list(after: string, prefix: string, limit: number): TenantUser[] {
    return this.#host.tables.exist() ? this.#host.users.list(after, prefix, limit) : []
  }

  /**
   * If there are users without search keys, the alarm is due at once. The time is 1, because the platform does not
   * accept 0.
   */
  nextAlarmAt(): number | null {
    return this.#host.users.lacksKeys() ? 1 : null
  }

  handleAlarm(): Promise<void> {
    this.#host.storage.transactionSync(() => this.#host.users.fillKeys())
    return Promise.resolve()
  }

  /** Loads the code for administrators' changes and searches, which few requests need. */
  async administer(): Promise<UserAdministration> {
    const { UserAdministration: Administration } = await import("./user-administration.ts")
    return new Administration(this.#host)
  }
}
