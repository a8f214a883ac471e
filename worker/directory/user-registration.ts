/**
 * user-registration.ts: adds the user of a directory to the tenant's list of users on first contact.
 *
 * The tenant's row is written first and the directory's flag afterwards. If the process ends in between, the next
 * process repeats the first step, which has no effect if the row exists.
 */

import type { TenantGrant } from "../../shared/usage/user-account.ts"
import { describeError, logError } from "../platform/log.ts"
import type { Role } from "../platform/rpc/claims.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { DirectoryHost } from "../usage/directory-host.ts"
import type { AccountRows } from "./account-rows.ts"

export class UserRegistration {
  readonly #host: DirectoryHost
  readonly #account: AccountRows
  readonly #onGrant: (grant: TenantGrant | null) => void
  #isRegistered = false

  /** `onGrant` receives the budgets from the tenant's reply. */
  constructor(host: DirectoryHost, account: AccountRows, onGrant: (grant: TenantGrant | null) => void) {
    this.#host = host
    this.#account = account
    this.#onGrant = onGrant
  }

  /**
   * Registers the user, unless the user is already registered. If the tenant's object cannot be reached, an unused
   * directory rejects, so that it never stores data of a user whom the tenant does not know. A used directory continues
   * and retries on the next contact.
   *
   * Cost: one call to the tenant and one row written here, on first contact only.
   */
  async ensure(role?: Role, isFirstSession = false): Promise<void> {
    const { env, tables, tenant, user } = this.#host
    const isUsed = tables.exist()
    // An old token of an erased user must not add the user again. A new token adds the user together with the first
    // session.
    if (isUsed && !isFirstSession && this.#account.isErased()) return
    this.#isRegistered ||= isUsed && this.#account.isRegistered()
    // An object without a name has no user.
    if (this.#isRegistered || user === "") return
    try {
      const { grant } = await tenantStub(env, tenant).registerUser({ id: user, role })
      this.#onGrant(grant ?? null)
    } catch (error) {
      if (!isUsed) throw error
      logError("user_not_registered", { error: describeError(error) })
      return
    }
    tables.create()
    this.#account.setRegistered()
    this.#isRegistered = true
  }

  /** Clears the state in memory. Call this after the user has been erased. */
  reset(): void {
    this.#isRegistered = false
  }
}
