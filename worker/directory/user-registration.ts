/**
 * user-registration.ts: adds the user of a directory to the tenant's list of users, at the first contact.
 *
 * The tenant's row is written first and the directory's flag afterwards. A process that ends between them repeats the
 * first step, which then changes nothing.
 */

import type { TenantGrant } from "../../shared/usage/user-account.ts"
import type { Env } from "../env.ts"
import { describeError, logError } from "../platform/log.ts"
import type { Role } from "../platform/rpc/claims.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { AccountRows } from "./account-rows.ts"

export class UserRegistration {
  readonly #ctx: DurableObjectState
  readonly #env: Env
  readonly #account: AccountRows
  readonly #onGrant: (grant: TenantGrant | null) => void
  #isRegistered = false

  /** `onGrant` gets what the tenant has said about budgets. */
  constructor(ctx: DurableObjectState, env: Env, account: AccountRows, onGrant: (grant: TenantGrant | null) => void) {
    this.#ctx = ctx
    this.#env = env
    this.#account = account
    this.#onGrant = onGrant
  }

  /**
   * Registers the user, unless that was done. Rejects if the tenant cannot be reached and the directory is unused. A used
   * one goes on, and tries again at the next contact.
   *
   * Cost: one call to the tenant and one row here, once. After that, nothing.
   */
  async ensure(role: Role | undefined, isUsed: boolean, migrate: () => void): Promise<void> {
    this.#isRegistered ||= isUsed && this.#account.isRegistered()
    if (this.#isRegistered) return
    const identity = this.#readIdentity()
    if (identity === null) return
    try {
      const { grant } = await tenantStub(this.#env, identity.tenant).registerUser({ id: identity.user, role })
      this.#onGrant(grant ?? null)
    } catch (error) {
      if (!isUsed) throw error
      logError("user_not_registered", { error: describeError(error) })
      return
    }
    migrate()
    this.#account.setRegistered()
    this.#isRegistered = true
  }

  /** For a user who was erased. */
  reset(): void {
    this.#isRegistered = false
  }

  /** The object's name is `tenant:user`. */
  #readIdentity(): { readonly tenant: string; readonly user: string } | null {
    const [tenant, user] = (this.#ctx.id.name ?? "").split(":", 2)
    return tenant === undefined || user === undefined ? null : { tenant, user }
  }
}
