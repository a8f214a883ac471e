/**
 * rollback.ts: `npm run rollback` returns all traffic to the previous version, or sends it to another one.
 *
 * The command restores code only: stored data, secrets and the settings in the dashboard are not changed.
 */

import process from "node:process"
import { parseArgs } from "node:util"
import { PlatformApi, PlatformError, readPlatformSettings } from "./platform-api.ts"
import { rollBack } from "./earlier-version.ts"

const USAGE = `npm run rollback                       all traffic to the version that had it before
npm run rollback -- --to VERSION       to this version
npm run rollback -- --list             the versions that can be deployed

--name NAME    the Worker, default cuecard
--dry-run      only print what would be done
It reads CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.`

async function runRollback(): Promise<void> {
  const { values } = parseArgs({
    options: {
      to: { type: "string" },
      list: { type: "boolean", default: false },
      name: { type: "string", default: "cuecard" },
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  })
  if (values.help) return console.log(USAGE)
  const api = new PlatformApi(readPlatformSettings(process.env, values.name))
  if (values.list) {
    for (const { id, created, message } of await api.listDeployableVersions())
      console.log([id, created, message].join("  ").trimEnd())
    return
  }
  const { from, to } = await rollBack(api, values.to ?? null, values["dry-run"])
  console.log(`${values["dry-run"] ? "Would roll back" : "Rolled back"} from ${from.join(" and ")} to ${to}.`)
}

try {
  await runRollback()
} catch (error) {
  const isUsage = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")
  if (!(error instanceof PlatformError || isUsage)) throw error
  console.error(isUsage ? `${error.message}\n\n${USAGE}` : error.message)
  process.exitCode = 1
}
