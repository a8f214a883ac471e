/**
 * transfer-routes.ts: the routes that export a session and import a file into it.
 */

import * as v from "valibot"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { MAX_IMPORT_BYTES, MAX_IMPORT_PARTS } from "../../../shared/limits.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import type { ImportPart } from "../../platform/rpc/session-types.ts"
import { requireSession } from "../access/require-session.ts"
import { requireStorage } from "../access/require-storage.ts"
import { type AppEnv, parseFields, readQuery } from "../request-body.ts"
import { decimalSchema } from "../session-fields.ts"
import { createHono } from "../hono-app.ts"

const exportSchema = v.object({
  after: v.optional(decimalSchema),
  format: v.optional(v.picklist(["jsonl", "markdown"]), "jsonl"),
})

const partNumberSchema = v.pipe(decimalSchema, v.minValue(1), v.maxValue(MAX_IMPORT_PARTS))

const importPartSchema = v.object({ part: partNumberSchema, of: partNumberSchema })

export const transferRoutes = createHono<AppEnv>()

transferRoutes.get("/:id/events", requireSession, async (context) => {
  const query = readQuery(context, exportSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { after = null, format } = query.value
  const exported = await context.get("session").export(context.get("claims"), after, format)
  if (!exported.ok) return faultToResponse(exported.fault)
  const [type, extension] = format === "jsonl" ? ["application/jsonl", "jsonl"] : ["text/markdown", "md"]
  return context.body(exported.value.lines, 200, {
    "content-type": `${type}; charset=utf-8`,
    "content-disposition": `attachment; filename="${context.req.param("id")}.${extension}"`,
  })
})

transferRoutes.post("/:id/import", requireSession, requireStorage, async (context) => {
  const { body } = context.req.raw
  const part = parseImportPart(context.req.query())
  if (!part.ok) return faultToResponse(part.fault)
  // A file whose announced size is too large is refused without reading it.
  if (Number(context.req.header("content-length") ?? 0) > MAX_IMPORT_BYTES) {
    return faultToResponse({ reason: "import_too_large", max: MAX_IMPORT_BYTES })
  }
  if (body === null) return faultToResponse({ reason: "import_empty" })
  const imported = await context.get("session").import(context.get("claims"), body, part.value)
  if (!imported.ok) return faultToResponse(imported.fault)
  return context.json({ ...imported.value, ...part.value }, imported.value.state === "done" ? 200 : 202)
})

transferRoutes.get("/:id/import", requireSession, async (context) => {
  const progress = await context.get("session").importProgress(context.get("claims"))
  return progress.ok ? context.json(progress.value) : faultToResponse(progress.fault)
})

/** Parses `?part=&of=`. Without them, the body is the whole file. */
function parseImportPart(query: Record<string, string>): Result<ImportPart> {
  const parsed = parseFields(importPartSchema, { part: "1", of: "1", ...query }, "part")
  if (!parsed.ok) return parsed
  const { part, of } = parsed.value
  return part <= of ? succeed({ part, of }) : fail({ reason: "field_invalid", field: "part" })
}
