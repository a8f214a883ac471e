/**
 * restore.ts: `npm run restore` imports a backup into a tenant without conversations. The command can create that
 * tenant.
 */

import { parseArgs } from "node:util"
import { importTenant } from "../tenant/tenant-archive.ts"
import { readSecret, requestJson } from "../tenant/tenant-request.ts"
import { findBackup } from "./backup-folder.ts"
import { BACKUP_OPTIONS, describeServerOptions, readTenant, runCommand } from "./backup-options.ts"

const USAGE = `npm run restore -- TENANT [--dir backups] [--before 2026-11-22] [--into OTHER] [--create]
npm run restore -- TENANT --from FOLDER [--into OTHER] [--create]

Restores the newest backup of TENANT, or the newest one from before a time, into TENANT or OTHER, which must have no
conversations. --create creates that tenant first. The deployment must have the JWT_SECRET that it had at the backup.

${describeServerOptions(" except for --create")}`

async function runRestore(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ...BACKUP_OPTIONS,
      before: { type: "string" },
      from: { type: "string" },
      into: { type: "string" },
      create: { type: "boolean", default: false },
    },
  })
  if (values.help) return console.log(USAGE)
  const tenant = readTenant(positionals, USAGE)
  const into = values.into ?? tenant
  // Find the backup before creating anything.
  const from = values.from ?? findBackup(values.dir, tenant, values.before)
  if (values.create) {
    const created = await requestJson(values, "v1/tenants", readSecret(values), { id: into })
    console.log(`Created the tenant ${into}. Its API key is shown only now:\n\n  ${String(created["key"])}\n`)
  }
  const [, text] = await importTenant({ ...values, from }, into)
  console.log(`${text}\nThe backup: ${from}`)
}

await runCommand(runRestore, USAGE)
