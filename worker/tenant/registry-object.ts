/**
 * registry-object.ts: the Durable Object for one key in the deployment's registry. It stores nothing before its first
 * write.
 */

import { DurableObject } from "cloudflare:workers"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { Env } from "../env.ts"
import { hasSchema, runMigrations } from "../platform/migrate.ts"
import type { RegistryRpc } from "../platform/rpc/registry-rpc.ts"

const MIGRATIONS: readonly string[] = [
  `CREATE TABLE claim (one INTEGER PRIMARY KEY CHECK (one = 1), tenant TEXT NOT NULL);
   CREATE TABLE tenants (id TEXT PRIMARY KEY) WITHOUT ROWID`,
]

export class Registry extends DurableObject<Env> implements RegistryRpc {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    if (hasSchema(ctx.storage.sql)) runMigrations(ctx.storage, MIGRATIONS)
  }

  claim(tenant: string): Result<null> {
    runMigrations(this.ctx.storage, MIGRATIONS)
    this.ctx.storage.sql.exec("INSERT OR IGNORE INTO claim (one, tenant) VALUES (1, ?)", tenant)
    return this.lookup() === tenant ? succeed(null) : fail({ reason: "issuer_taken" })
  }

  lookup(): string | null {
    if (!hasSchema(this.ctx.storage.sql)) return null
    const [row] = this.ctx.storage.sql.exec<{ tenant: string }>("SELECT tenant FROM claim").toArray()
    return row?.tenant ?? null
  }

  release(tenant: string): void {
    if (hasSchema(this.ctx.storage.sql)) this.ctx.storage.sql.exec("DELETE FROM claim WHERE tenant = ?", tenant)
  }

  addTenant(id: string): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
    this.ctx.storage.sql.exec("INSERT OR IGNORE INTO tenants (id) VALUES (?)", id)
  }

  removeTenant(id: string): void {
    if (hasSchema(this.ctx.storage.sql)) this.ctx.storage.sql.exec("DELETE FROM tenants WHERE id = ?", id)
  }

  listTenants(limit: number, after = ""): string[] {
    if (!hasSchema(this.ctx.storage.sql)) return []
    const sql = "SELECT id FROM tenants WHERE id > ? ORDER BY id LIMIT ?"
    return this.ctx.storage.sql
      .exec<{ id: string }>(sql, after, limit)
      .toArray()
      .map(({ id }) => id)
  }
}
