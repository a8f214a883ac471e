/**
 * audit.ts: verifies an exported audit log. `npm run audit -- verify FILE [--head SEQ.HASH]`
 */

import { createReadStream } from "node:fs"
import process from "node:process"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { verifyAuditFile } from "./audit-file.ts"

const USAGE = `npm run audit -- verify FILE [--head SEQ.HASH]
FILE: what GET /v1/audit/export returned. SEQ.HASH: the "head" of an earlier page or export, which must still be part of the log.`

const { values, positionals } = parseArgs({ options: { head: { type: "string" } }, allowPositionals: true })
const [command, file] = positionals
const [seq, hash] = values.head?.split(".") ?? []
if (
  command !== "verify" ||
  file === undefined ||
  (values.head !== undefined && !/^\d+\.[0-9a-f]{64}$/.test(values.head))
) {
  console.error(USAGE)
  process.exit(2)
}

const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
const result = await verifyAuditFile(lines, hash === undefined ? null : { seq: Number(seq), hash })
if (result.ok) {
  const { tenant, base, head } = result.header
  const older = base.seq === 0 ? "" : ` Entries up to ${base.seq} are no longer stored.`
  console.log(`ok: ${result.entries} entries of ${tenant}, head ${head.seq}.${head.hash}.${older}`)
} else {
  console.error(`${file}:${result.line}: ${result.because}`)
  process.exitCode = 1
}
