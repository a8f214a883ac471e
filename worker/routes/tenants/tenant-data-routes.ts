/**
 * tenant-data-routes.ts: export, import, backup, erasure and restoration of a tenant, and erasure of its users. Jobs of
 * the tenant object do the work (worker/leaving/); these routes start the jobs and report their progress.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { type Fault, faultToWire, type Result } from "../../../shared/fault.ts"
import { idSchema } from "../../../shared/protocol/event.ts"
import type { BackupList } from "../../../shared/protocol/http-body.ts"
import type { ExportView, ImportView } from "../../settings/leaving-rpc.ts"
import { clearCachedAccess } from "../../auth/tenant-access-cache.ts"
import { findBackupBucket } from "../../backup/backup-bucket.ts"
import { readBackupPlan } from "../../backup/backup-plan.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { mediaBucket } from "../../platform/media-bucket.ts"
import { getRole } from "../../platform/rpc/claims.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { getRegion } from "../../platform/tenant-id.ts"
import { clearCachedRevocations } from "../access/authorize.ts"
import { readActor } from "../access/request-actor.ts"
import { type AppEnv, readBody, readBodyText } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

type AppContext = Context<AppEnv>

const DAY_MS = 24 * 60 * 60_000

export const tenantDataRoutes = createHono<AppEnv>()

const tenantOf = (context: AppContext) => tenantStub(context.env, context.get("claims").tenant)

tenantDataRoutes.get("/tenant", async (context) => {
  const id = context.get("claims").tenant
  return context.json({ id, region: getRegion(id), ...(await tenantOf(context).getStanding()) })
})

/** The request repeats the tenant's id, so that nobody erases the wrong tenant. */
const confirmSchema = v.object({ confirm: v.string() })

tenantDataRoutes.delete("/tenant", async (context) => {
  const body = await readBody(context, confirmSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { tenant } = context.get("claims")
  if (body.value.confirm !== tenant) return faultToResponse({ reason: "field_invalid", field: "confirm" })
  const left = await tenantOf(context).leave(tenant, readActor(context))
  clearCachedAccess(tenant)
  return createResponse(context, left, 202)
})

tenantDataRoutes.post("/tenant/restore", async (context) => {
  const restored = await tenantOf(context).restoreTenant(readActor(context))
  clearCachedAccess(context.get("claims").tenant)
  return createResponse(context, restored, 200)
})

tenantDataRoutes.post("/tenant/export", async (context) => {
  const started = await tenantOf(context).startExport(context.get("claims").tenant, readActor(context))
  return started.ok ? context.json(jobToJson(started.value), 202) : faultToResponse(started.fault)
})

tenantDataRoutes.get("/tenant/exports", async (context) => {
  const exports = await tenantOf(context).listExports()
  return context.json({ exports: exports.map(jobToJson) })
})

tenantDataRoutes.get("/tenant/exports/:id", async (context) => {
  const found = await tenantOf(context).findExport(context.req.param("id"))
  return found === null ? faultToResponse({ reason: "export_unknown" }) : context.json(jobToJson(found))
})

tenantDataRoutes.delete("/tenant/exports/:id", async (context) => {
  const isRemoved = await tenantOf(context).removeExport(context.req.param("id"), readActor(context))
  return isRemoved ? context.body(null, 204) : faultToResponse({ reason: "export_unknown" })
})

tenantDataRoutes.get("/tenant/exports/:id/files/:n", async (context) => {
  const { tenant } = context.get("claims")
  const { id, n } = context.req.param()
  const { archiveKey } = await import("../../leaving/archive-files.ts")
  const found = await tenantOf(context).findExport(id)
  const isKnown = found?.state === "done" && /^\d{1,4}$/.test(n) && Number(n) <= found.parts
  const object = isKnown ? await mediaBucket(context.env, tenant).get(archiveKey(tenant, id, Number(n))) : null
  if (object === null) return faultToResponse({ reason: "export_unknown" })
  const [type, name] = n === "0" ? ["application/json", "manifest.json"] : ["application/octet-stream", `${n}.cuecard`]
  return context.body(object.body, 200, {
    "content-type": type,
    "content-length": String(object.size),
    "content-disposition": `attachment; filename="${id}-${name}"`,
  })
})

tenantDataRoutes.get("/tenant/backups", async (context) => {
  const backups = await tenantOf(context).listBackups()
  const hasBucket = findBackupBucket(context.env, context.get("claims").tenant) !== null
  const body: BackupList = {
    backups: backups.map(jobToJson),
    kept_days: hasBucket ? readBackupPlan(context.env).keptMs / DAY_MS : null,
  }
  return context.json(body)
})

tenantDataRoutes.post("/tenant/import", async (context) => {
  const manifest = await readBodyText(context)
  if (!manifest.ok) return faultToResponse(manifest.fault)
  const { tenant } = context.get("claims")
  const started = await tenantOf(context).startImport(tenant, readActor(context), manifest.value)
  return started.ok ? context.json(jobToJson(started.value), 202) : faultToResponse(started.fault)
})

tenantDataRoutes.get("/tenant/imports", async (context) => {
  const imports = await tenantOf(context).listImports()
  return context.json({ imports: imports.map(jobToJson) })
})

tenantDataRoutes.get("/tenant/imports/:id", async (context) => {
  const found = await tenantOf(context).findImport(context.req.param("id"))
  return found === null ? faultToResponse({ reason: "tenant_import_unknown" }) : context.json(jobToJson(found))
})

tenantDataRoutes.delete("/tenant/imports/:id", async (context) => {
  const isRemoved = await tenantOf(context).removeImport(context.req.param("id"), readActor(context))
  return isRemoved ? context.body(null, 204) : faultToResponse({ reason: "tenant_import_unknown" })
})

tenantDataRoutes.put("/tenant/imports/:id/files/:n", async (context) => {
  const { tenant } = context.get("claims")
  const { id, n } = context.req.param()
  const expected = /^[1-9]\d{0,3}$/.test(n) ? await tenantOf(context).findImportFile(id, Number(n)) : null
  if (expected === null) return faultToResponse({ reason: "tenant_import_unknown" })
  const { receiveArchiveFile, stagedKey } = await import("../../leaving/archive-files.ts")
  const received = await receiveArchiveFile(context.env, { tenant, id, expected }, context.req.raw.body)
  if (!received.ok) return faultToResponse(received.fault)
  const view = await tenantOf(context).addImportFile(id, Number(n))
  if (view !== null) return context.json(jobToJson(view), 202)
  // The import was removed during the upload.
  await mediaBucket(context.env, tenant).delete(stagedKey(tenant, id, Number(n)))
  return faultToResponse({ reason: "tenant_import_unknown" })
})

tenantDataRoutes.delete("/users/:id", async (context) => {
  const user = context.req.param("id")
  if (!v.is(idSchema, user)) return faultToResponse({ reason: "user_unknown" })
  const claims = context.get("claims")
  const isOwner = getRole(claims) === "owner"
  const erased = await tenantOf(context).eraseUser(claims.tenant, readActor(context), user, isOwner)
  clearCachedRevocations({ tenant: claims.tenant, user })
  return createResponse(context, erased, 202)
})

tenantDataRoutes.get("/tenant/receipts", async (context) =>
  context.json({ receipts: await tenantOf(context).listReceipts() }),
)

tenantDataRoutes.get("/tenant/receipts/:id", async (context) => {
  const receipt = await tenantOf(context).findReceipt(context.req.param("id"))
  return receipt === null ? faultToResponse({ reason: "receipt_unknown" }) : context.json(receipt)
})

function createResponse<T extends object>(context: AppContext, result: Result<T>, status: 200 | 202): Response {
  return result.ok ? context.json(result.value, status) : faultToResponse(result.fault)
}

/** Converts a job to JSON, with its fault in the form that clients receive. */
function jobToJson<V extends ExportView | ImportView>({ fault, ...view }: V) {
  return { ...view, fault: fault === null ? null : faultToPublic(fault) }
}

function faultToPublic(fault: Fault) {
  const { code, text } = faultToWire(fault)
  return { code, text }
}
