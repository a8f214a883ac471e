/**
 * restore.ts: `npm run restore`: imports a backup into a tenant without conversations, which it can create.
 */

import process from "node:process"
import { parseArgs } from "node:util"
import { importTenant } from "../tenant/tenant-archive.ts"
import { readSecret, request, UsageError } from "../tenant/tenant-request.ts"
import { findBackup } from "./backup-folder.ts"

const USAGE = `npm run restore -- TENANT [--dir backups] [--before 2026-11-22] [--into OTHER] [--create]
npm run restore -- TENANT --from FOLDER [--into OTHER] [--create]

Restores the newest backup of TENANT, or the newest one from before a time, into TENANT or OTHER, which must have no
conversations. --create creates that tenant first. The deployment must have the JWT_SECRET that it had at the backup.

--url URL            the server, default http://127.0.0.1:8787
--secret-env NAME    the variable with the operator's secret, default OPERATOR_SECRET. With CUECARD_KEY, an API key of
                     an owner, it is not needed except for --create`

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      url: { type: "string", default: "http://127.0.0.1:8787" },
      "secret-env": { type: "string", default: "OPERATOR_SECRET" },
      dir: { type: "string", default: "backups" },
      before: { type: "string" },
      from: { type: "string" },
      into: { type: "string" },
      create: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  })
  const [tenant, ...rest] = positionals
  if (values.help) return console.log(USAGE)
  if (tenant === undefined || rest.length > 0) throw new UsageError(USAGE)
  const into = values.into ?? tenant
  // Checked before anything is created.
  const from = values.from ?? findBackup(values.dir, tenant, values.before)
  if (values.create) {
    const created = await request(values, "v1/tenants", readSecret(values), { id: into })
    console.log(`Created the tenant ${into}. Its API key is shown only now:\n\n  ${String(created["key"])}\n`)
  }
  const [, text] = await importTenant({ ...values, from }, into)
  console.log(`${text}\nThe backup: ${from}`)
}

try {
  await run()
} catch (error) {
  const isOption = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")
  if (!(error instanceof UsageError || isOption)) throw error
  console.error(isOption ? `${error.message}\n\n${USAGE}` : error.message)
  process.exitCode = 1
}
