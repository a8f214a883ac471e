/**
 * backup-options.ts: the shared parts of `npm run backup` and `npm run restore`: options, the tenant argument, and
 * error output.
 */

import process from "node:process"
import { UsageError } from "../tenant/tenant-request.ts"

export const BACKUP_OPTIONS = {
  url: { type: "string", default: "http://127.0.0.1:8787" },
  "secret-env": { type: "string", default: "OPERATOR_SECRET" },
  dir: { type: "string", default: "backups" },
  help: { type: "boolean", default: false },
} as const

/** Returns the end of the usage text of both commands. `exception`: the case in which CUECARD_KEY is not enough. */
export function describeServerOptions(exception = ""): string {
  return `--url URL            the server, default http://127.0.0.1:8787
--secret-env NAME    the variable with the operator's secret, default OPERATOR_SECRET. With CUECARD_KEY, an API key of
                     an owner, it is not needed${exception}`
}

/** Returns the tenant that a command names. Throws `UsageError` with the usage text unless it is the only argument. */
export function readTenant([tenant, ...rest]: readonly string[], usage: string): string {
  if (tenant === undefined || rest.length > 0) throw new UsageError(usage)
  return tenant
}

/** Runs a command. Errors that the user can correct are shown without a stack. */
export async function runCommand(run: () => Promise<void>, usage: string): Promise<void> {
  try {
    await run()
  } catch (error) {
    const isOption = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")
    if (!(error instanceof UsageError || isOption)) throw error
    console.error(isOption ? `${error.message}\n\n${usage}` : error.message)
    process.exitCode = 1
  }
}
