/**
 * backup.ts: `npm run backup` archives a tenant into a new folder, checks the archive, and deletes old backups.
 */

import { rmSync } from "node:fs"
import { parseArgs } from "node:util"
import { withAccess } from "../tenant/owner-access.ts"
import { exportTenant } from "../tenant/tenant-archive.ts"
import { UsageError } from "../tenant/tenant-request.ts"
import { completeBackup, deleteOldBackups, openPartialBackup } from "./backup-folder.ts"
import { BACKUP_OPTIONS, describeServerOptions, readTenant, runCommand } from "./backup-options.ts"

const USAGE = `npm run backup -- TENANT [--dir backups] [--keep 14]

Writes a backup into DIR/TENANT/TIME and deletes all but the newest 14. A repeated command continues an interrupted one.

${describeServerOptions()}`

async function runBackup(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { ...BACKUP_OPTIONS, keep: { type: "string", default: "14" } },
  })
  if (values.help) return console.log(USAGE)
  const tenant = readTenant(positionals, USAGE)
  if (!/^[1-9]\d{0,4}$/.test(values.keep)) throw new UsageError(USAGE)
  const openBackup = (): string => openPartialBackup(values.dir, tenant, new Date())
  let partial = openBackup()
  const [exported, text] = await exportTenant({ ...values, to: partial }, tenant).catch(async (error: unknown) => {
    // If the server no longer has the archive that an interrupted run began to download, start again in a new folder.
    if (!(error instanceof UsageError) || !error.message.includes("(export_unknown)")) throw error
    rmSync(partial, { recursive: true, force: true })
    partial = openBackup()
    return await exportTenant({ ...values, to: partial }, tenant)
  })
  const path = completeBackup(partial)
  // Otherwise, the server would keep its copy for days.
  await withAccess(values, tenant, "backup", (access) =>
    access.request(`v1/tenant/exports/${String(exported["id"])}`, undefined, "DELETE"),
  )
  const deleted = deleteOldBackups(values.dir, tenant, Number(values.keep))
  console.log(`${text.replace(partial, path).replace(/ The server deletes.*$/, "")}`)
  if (deleted > 0) console.log(`Deleted ${deleted} older ${deleted === 1 ? "backup" : "backups"}.`)
}

await runCommand(runBackup, USAGE)
