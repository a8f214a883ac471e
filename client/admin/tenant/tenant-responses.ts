/**
 * tenant-responses.ts: parses the responses about the tenant as a whole. Each parser returns null if a field has the
 * wrong type. Pure.
 */

import type {
  BackupList,
  Receipt,
  Tally,
  TenantBackup,
  TenantExport,
  TenantImport,
  TenantSummary,
} from "../../../shared/protocol/http-body.ts"
import { createParser, hasShape, isListOf, isNumber, isString } from "../../../shared/protocol/shape-check.ts"
import { isNullOr } from "../admin-responses.ts"

export const parseTenant = createParser<TenantSummary>({
  id: isString,
  region: isNullOr(isString),
  status: isString,
  erases_at: isNullOr(isNumber),
})

const isTally = hasShape<Tally>({
  users: isNumber,
  sessions: isNumber,
  agent_sessions: isNumber,
  files: isNumber,
  bytes: isNumber,
})

const TRANSFER = {
  id: isString,
  created: isNumber,
  updated: isNumber,
  tally: isTally,
  fault: isNullOr(hasShape({ code: isString, text: isString })),
  state: isString,
  parts: isNumber,
}

const EXPORT = { ...TRANSFER, expires: isNumber }

export const parseExportList = createParser<{ readonly exports: readonly TenantExport[] }>({
  exports: isListOf(hasShape<TenantExport>(EXPORT)),
})

export const parseBackupList = createParser<BackupList>({
  backups: isListOf(hasShape<TenantBackup>({ ...EXPORT, folder: isString })),
  kept_days: isNullOr(isNumber),
})

const IMPORT = { ...TRANSFER, from: isString, missing: isListOf(isNumber), skipped: isNumber }

export const parseImport = createParser<TenantImport>(IMPORT)

export const parseImportList = createParser<{ readonly imports: readonly TenantImport[] }>({
  imports: isListOf(hasShape<TenantImport>(IMPORT)),
})

export const parseReceiptList = createParser<{ readonly receipts: readonly Receipt[] }>({
  receipts: isListOf(
    hasShape<Receipt>({
      id: isString,
      kind: isString,
      target: isString,
      state: isString,
      requested: isNumber,
      finished: isNullOr(isNumber),
      tally: isTally,
      unrecoverable_after: isNullOr(isNumber),
    }),
  ),
})
