/** directory-host.ts: the shared base of the parts of a user's directory object. */

import type { Env } from "../env.ts"
import type { ObjectTables } from "../platform/migrate.ts"
import { parseUserKey } from "../platform/rpc/object-stubs.ts"

export interface DirectoryHost {
  readonly ctx: DurableObjectState
  readonly env: Env
  readonly tables: ObjectTables
  readonly sql: SqlStorage
  /** The tenant and the user of the directory. */
  readonly tenant: string
  readonly user: string
}

export function createDirectoryHost(ctx: DurableObjectState, env: Env, tables: ObjectTables): DirectoryHost {
  const { tenant, user } = parseUserKey(ctx.id.name)
  return { ctx, env, tables, sql: ctx.storage.sql, tenant, user }
}
