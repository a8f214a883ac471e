/** tenant-metering.ts: the usage and prices of a tenant object. */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"
import { matchesModel } from "../../shared/usage/price-table.ts"
import type { UsagePage, UsageQuery } from "../../shared/usage/usage-page.ts"
import { getModelName } from "../model/model-registry.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import type { TenantModel } from "../settings/model-config.ts"
import type { Agent } from "../settings/agent-config.ts"
import { findPriceRevision, readPrices, writePrices } from "../usage/price-rows.ts"
import { NO_USAGE, type UsageTotals } from "../../shared/usage/usage-totals.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import type { TenantHost } from "./tenant-host.ts"

export class TenantMetering {
  readonly #host: TenantHost

  constructor(host: TenantHost) {
    this.#host = host
  }

  /** Adds a batch from a user's directory, once. */
  addBatch(user: string, batch: UsageReport): void {
    const { storage, tables, users } = this.#host
    if (this.#host.isErased()) return
    tables.create()
    const known = users.find(user)
    const isListed = known !== null && known.status !== "erasing"
    try {
      storage.transactionSync(() => this.#host.usage.add(batch, isListed ? user : null, Date.now()))
    } catch (error) {
      this.#host.usage.forgetSums()
      throw error
    }
  }

  /** Returns the usage of all users from one day to another, both included. */
  sumRange(from: string, to: string): UsageTotals {
    return this.#host.usage.sumRange(from, to)
  }

  readPage(query: UsageQuery): UsagePage {
    const { from, to, by } = query
    const { tables, users } = this.#host
    if (!tables.exist()) return { from, to, by, rows: [], total: NO_USAGE, next: null }
    return this.#host.usage.readPage(query, (after, limit) => users.list(after, "", limit).map(({ id }) => id))
  }

  listPrices(): readonly PriceEntry[] {
    return this.#host.tables.exist() ? readPrices(this.#host.sql) : []
  }

  setPrices(actor: Actor, prices: readonly PriceEntry[], revision?: string): Result<readonly PriceEntry[]> {
    return this.#host.change(() => {
      if (revision !== undefined && revision !== findPriceRevision(readPrices(this.#host.sql)))
        return fail({ reason: "prices_changed" })
      writePrices(this.#host.sql, prices)
      this.#host.record(actor, { action: "prices.changed", details: { entries: prices.length } })
      return succeed(prices)
    })
  }

  /**
   * Returns the tenant's own prices for the models that an agent uses. `own`: the models that the tenant has
   * configured.
   */
  listPricesOf({ model, fallbacks = [] }: Agent, own: readonly TenantModel[]): readonly PriceEntry[] {
    const names = [model, ...fallbacks].map(
      (name) => own.find((ownModel) => ownModel.name === name)?.model ?? getModelName(this.#host.env, name),
    )
    return this.listPrices().filter((entry) => names.some((name) => matchesModel(entry, name)))
  }
}
