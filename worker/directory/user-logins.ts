/** user-logins.ts: the sign-ins of a user on the page, in the user's directory. */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_REVOKED_TOKENS } from "../auth/revocation.ts"
import type { LoginSecrets, NewLogin, UsedLogin } from "../platform/rpc/directory-rpc.ts"
import type { DirectoryHost } from "../usage/directory-host.ts"
import type { AccountRows } from "./account-rows.ts"
import type { LoginRows } from "./login-rows.ts"
import type { TokenRevocations } from "./token-revocations.ts"

export class UserLogins {
  readonly #host: DirectoryHost
  readonly #rows: LoginRows
  readonly #accountRows: AccountRows
  readonly #revocations: TokenRevocations

  constructor(host: DirectoryHost, rows: LoginRows, accountRows: AccountRows, revocations: TokenRevocations) {
    this.#host = host
    this.#rows = rows
    this.#accountRows = accountRows
    this.#revocations = revocations
  }

  add(login: NewLogin): Result<null> {
    this.#host.tables.create()
    const revoked = this.#revocations.readState()
    if (this.#rows.has(login.id) || revoked.tokens.includes(login.id)) return fail({ reason: "sign_in_required" })
    // Each sign-in can add a revocation, so none is admitted while the list is full.
    if (revoked.tokens.length >= MAX_REVOKED_TOKENS)
      return fail({ reason: "revocations_full", max: MAX_REVOKED_TOKENS })
    // `admitSignIn` has added the user to the tenant's list.
    this.#accountRows.setRegistered()
    this.#rows.prune(Date.now())
    this.#revocations.revokeLogins(this.#rows.add(login, Date.now()))
    return succeed(null)
  }

  addKnown(login: NewLogin): Result<null> {
    const isKnown = this.#host.tables.exist() && this.#accountRows.isRegistered()
    if (!isKnown || this.#revocations.isErasing()) return fail({ reason: "user_unknown" })
    return this.#accountRows.isSuspended() ? fail({ reason: "user_suspended" }) : this.add(login)
  }

  use(id: string, secrets: LoginSecrets): Result<UsedLogin | "copied"> {
    if (!this.#host.tables.exist()) return fail({ reason: "sign_in_required" })
    if (this.#accountRows.isSuspended()) return fail({ reason: "user_suspended" })
    if (this.#revocations.readState().erased === true) return fail({ reason: "user_erased" })
    const use = this.#rows.use(id, secrets, Date.now())
    if (use === "unknown") return fail({ reason: "sign_in_required" })
    if (use === "copied") this.#end(id)
    return succeed(use === "copied" ? use : { ...use.login, version: this.#accountRows.readVersion() })
  }

  end(id: string, presented: string, everywhere: boolean): "current" | "copied" | null {
    const use = this.#host.tables.exist() ? this.#rows.check(id, presented, Date.now()) : null
    if (everywhere && use === "current") this.#revocations.endAllLogins()
    else this.#end(id)
    return use
  }

  #end(id: string): void {
    if (this.#host.tables.exist() && this.#rows.remove(id)) this.#revocations.revokeLogins([id])
  }
}
