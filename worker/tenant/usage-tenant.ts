/** usage-tenant.ts: the calls of the tenant object about usage and prices. */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"
import { matchesModel } from "../../shared/usage/price-table.ts"
import type { UsagePage, UsageQuery } from "../../shared/usage/usage-page.ts"
import type { Env } from "../env.ts"
import { getModelName } from "../model/model-registry.ts"
import { hasSchema } from "../platform/migrate.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import type { Agent } from "../settings/agent-config.ts"
import type { AuditEvent } from "../settings/audit-event.ts"
import type { UsageRpc } from "../settings/usage-rpc.ts"
import { readPrices, writePrices } from "../usage/price-rows.ts"
import { TenantUsage } from "../usage/tenant-usage.ts"
import { NO_USAGE, type UsageTotals } from "../../shared/usage/usage-totals.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import { LeavingTenant } from "./leaving-tenant.ts"
import { UserRows } from "./user-rows.ts"

export abstract class UsageTenant extends LeavingTenant implements Omit<UsageRpc, "addUsage"> {
  readonly #usage: TenantUsage
  readonly #users: UserRows

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#usage = new TenantUsage(ctx.storage.sql)
    this.#users = new UserRows(ctx.storage.sql)
  }

  abstract recordEvent(actor: Actor, event: AuditEvent): void

  protected addBatch(user: string, batch: UsageReport): void {
    if (this.getStanding().status === "erased") return
    this.migrate()
    const known = this.#users.find(user)
    const isListed = known !== null && known.status !== "erasing"
    try {
      this.ctx.storage.transactionSync(() => this.#usage.add(batch, isListed ? user : null))
    } catch (error) {
      this.#usage.forgetSums()
      throw error
    }
  }

  /** The usage of all users from one day to another, both included. */
  protected sumUsage(from: string, to: string): UsageTotals {
    return this.#usage.sumRange(from, to)
  }

  readUsage(query: UsageQuery): UsagePage {
    const { from, to, by } = query
    if (!hasSchema(this.ctx.storage.sql)) return { from, to, by, rows: [], total: NO_USAGE, next: null }
    return this.#usage.readPage(query, (after, limit) => this.#users.list(after, "", limit).map(({ id }) => id))
  }

  listPrices(): readonly PriceEntry[] {
    return hasSchema(this.ctx.storage.sql) ? readPrices(this.ctx.storage.sql) : []
  }

  setPrices(actor: Actor, prices: readonly PriceEntry[]): Result<readonly PriceEntry[]> {
    if (this.getStanding().status === "erased") return fail({ reason: "tenant_erased" })
    this.migrate()
    this.ctx.storage.transactionSync(() => {
      writePrices(this.ctx.storage.sql, prices)
      this.recordEvent(actor, { action: "prices.changed", details: { entries: prices.length } })
    })
    return succeed(prices)
  }

  /** The tenant's own prices of the model that an agent uses. */
  protected listPricesOf(agent: Agent): readonly PriceEntry[] {
    const name = getModelName(this.env, agent.model)
    return this.listPrices().filter((entry) => matchesModel(entry, name))
  }
}
