/** audit-routes.ts: administrators read, export and verify the audit log of their tenant. */

import type { Context } from "hono"
import { type AuditFileHeader, type AuditVerification, formatAuditLine } from "../../../shared/protocol/audit-entry.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { AUDIT_PAGE_ROWS, auditFilterSchema, auditHeadToText, auditVerifySchema } from "../../settings/audit-event.ts"
import { readActor } from "../access/request-actor.ts"
import { type AppEnv, readBody, readQuery } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

/**
 * Number of entries that one call to the tenant's object checks. The object cannot serve anything else in the meantime.
 */
const CHECK_STEP_ROWS = 1_000

/** Maximum number of entries that one request checks. The next request continues. */
const MAX_CHECKED_ROWS = 20_000

/** Number of an export's entries that are in memory at the same time. */
const EXPORT_STEP_ROWS = 500

export const auditRoutes = createHono<AppEnv>()

auditRoutes.get("/", async (context) => {
  const filter = readQuery(context, auditFilterSchema)
  if (!filter.ok) return faultToResponse(filter.fault)
  return context.json(await tenantOf(context).listAudit(filter.value, AUDIT_PAGE_ROWS))
})

auditRoutes.get("/export", async (context) => {
  const header = await tenantOf(context).beginAuditExport(readActor(context))
  const { tenant } = context.get("claims")
  return context.body(streamAuditFile(context, header), 200, {
    "content-type": "application/jsonl; charset=utf-8",
    "content-disposition": `attachment; filename="${tenant}-audit.jsonl"`,
  })
})

auditRoutes.post("/verify", async (context) => {
  const body = await readBody(context, auditVerifySchema)
  if (!body.ok) return faultToResponse(body.fault)
  const tenant = tenantOf(context)
  const known = body.value.known ?? null
  let after = body.value.after ?? null
  let rows = 0
  for (;;) {
    const check = await tenant.checkAudit(after, known, CHECK_STEP_ROWS)
    rows += check.rows
    after = check.last
    if (!check.isDone && check.firstBad === null && rows < MAX_CHECKED_ROWS) continue
    const isOver = check.isDone || check.firstBad !== null
    return context.json({
      ok: check.firstBad === null,
      rows,
      first_bad: check.firstBad,
      next: isOver ? null : auditHeadToText(after),
      head: check.head,
    } satisfies AuditVerification)
  }
})

/**
 * Streams the log as JSON lines, up to the entry that was the newest when the export began. Reads entries only as fast
 * as the client receives them.
 */
function streamAuditFile(context: Context<AppEnv>, header: AuditFileHeader): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let last = header.base.seq
  return new ReadableStream(
    {
      start(controller) {
        controller.enqueue(encoder.encode(`${JSON.stringify(header)}\n`))
      },
      async pull(controller) {
        const limit = Math.min(EXPORT_STEP_ROWS, header.head.seq - last)
        const entries = limit > 0 ? await tenantOf(context).listAuditAfter(last, limit) : []
        last = entries.at(-1)?.seq ?? header.head.seq
        if (entries.length === 0) return controller.close()
        controller.enqueue(encoder.encode(entries.map((entry) => `${formatAuditLine(entry)}\n`).join("")))
      },
    },
    { highWaterMark: 0 },
  )
}

function tenantOf(context: Context<AppEnv>) {
  return tenantStub(context.env, context.get("claims").tenant)
}
