/**
 * tenant-erasure.ts: `npm run tenant -- erase`, `undo` and `receipt`. Each returns the server's response and the text
 * to print.
 */

import {
  type JsonObject,
  readSecret,
  requestJson,
  type ServerOptions,
  urlOption,
  UsageError,
} from "./tenant-request.ts"
import { type TenantAccess, withAccess } from "./owner-access.ts"
import { followJob, formatTally } from "./tenant-job.ts"

interface ErasureOptions extends ServerOptions {
  readonly confirm?: string | undefined
  readonly user?: string | undefined
}

/** Begins the erasure of a tenant or of one of its users. The caller must give the id twice, as on the admin page. */
export async function eraseTenant(options: ErasureOptions, tenant: string): Promise<[JsonObject, string]> {
  const target = options.user ?? tenant
  if (options.confirm !== target)
    throw new UsageError(`The erasure becomes irreversible. To confirm, add --confirm ${target}`)
  return await withAccess(options, tenant, "erase", async (access) => {
    if (options.user !== undefined) return await eraseUser(access, options.user)
    const left = await access.request("v1/tenant", { confirm: tenant }, "DELETE")
    const when = formatTime(left["erases_at"])
    return [
      left,
      `${tenant} will be erased on ${when}. Until then it is read-only, and can be exported and kept:

  npm run tenant -- export ${tenant}${urlOption(options)}
  npm run tenant -- undo ${tenant}${urlOption(options)}`,
    ]
  })
}

async function eraseUser(access: TenantAccess, user: string): Promise<[JsonObject, string]> {
  const { id } = await access.request(`v1/users/${encodeURIComponent(user)}`, undefined, "DELETE")
  const receipt = await followJob(() => access.request(`v1/tenant/receipts/${id}`), "erasing")
  return [receipt, describeReceipt(receipt)]
}

export async function restoreTenant(options: ServerOptions, tenant: string): Promise<[JsonObject, string]> {
  return await withAccess(options, tenant, "undo", async (access) => {
    const restored = await access.request("v1/tenant/restore", {})
    return [restored, `${tenant} is kept. Everything is as it was.`]
  })
}

export async function showReceipt(options: ServerOptions, tenant: string): Promise<[JsonObject, string]> {
  const path = `v1/tenants/${encodeURIComponent(tenant)}/receipt`
  const receipt = await requestJson(options, path, readSecret(options))
  return [receipt, describeReceipt(receipt)]
}

function describeReceipt(receipt: JsonObject): string {
  const { kind, target, state, finished, unrecoverable_after: recovery } = receipt
  if (state !== "done") return `The ${kind} ${target} is being erased.`
  return `The ${kind} ${target} was erased on ${formatTime(finished)}: ${formatTally(receipt)}.
Until ${formatTime(recovery)}, the owner of the platform's account could restore its storage.`
}

function formatTime(ms: unknown): string {
  return new Date(Number(ms)).toLocaleString("sv-SE")
}
