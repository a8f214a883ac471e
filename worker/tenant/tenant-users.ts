/**
 * tenant-users.ts: registers the users of a tenant on first contact, and lists them, in the tenant object.
 */

import type { NewUser, TenantUser } from "../settings/tenant-rpc.ts"
import { createUser } from "./rows/user-rows.ts"
import type { TenantHost } from "./tenant-host.ts"
import type { UserAdministration } from "./user-administration.ts"

export class TenantUsers {
  readonly #host: TenantHost

  constructor(host: TenantHost) {
    this.#host = host
  }

  /** `isLeaving`: the tenant is leaving, so a new user of an issuer was not added. */
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

  /** Loads the code of administrators' changes and searches, which few requests need. */
  async administer(): Promise<UserAdministration> {
    const { UserAdministration: Administration } = await import("./user-administration.ts")
    return new Administration(this.#host)
  }
}
