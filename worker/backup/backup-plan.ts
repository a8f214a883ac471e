/** backup-plan.ts: the interval between backups, and how long they are kept. Pure. */

import { MAX_BACKUP_DAYS } from "../../shared/user-limits.ts"

const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS

const DEFAULT_HOURS = "24"
const MAX_HOURS = 7 * 24
const DEFAULT_KEPT_DAYS = "14"

export interface BackupVars {
  /** Hours between two backups of a tenant; 24 by default. */
  readonly BACKUP_HOURS?: string
  /** Number of days for which backups are kept; 14 by default, at most 29. */
  readonly BACKUP_KEPT_DAYS?: string
}

/** Durations in milliseconds. */
export interface BackupPlan {
  readonly intervalMs: number
  readonly keptMs: number
}

export function readBackupPlan({ BACKUP_HOURS, BACKUP_KEPT_DAYS }: BackupVars): BackupPlan {
  return {
    intervalMs: (readNumber(BACKUP_HOURS, MAX_HOURS) ?? Number(DEFAULT_HOURS)) * HOUR_MS,
    keptMs: (readNumber(BACKUP_KEPT_DAYS, MAX_BACKUP_DAYS) ?? Number(DEFAULT_KEPT_DAYS)) * DAY_MS,
  }
}

/** Returns a message for each invalid setting. */
export function findBackupFaults({ BACKUP_HOURS, BACKUP_KEPT_DAYS }: BackupVars): string[] {
  const faults: string[] = []
  if (BACKUP_HOURS !== undefined && readNumber(BACKUP_HOURS, MAX_HOURS) === null)
    faults.push(`BACKUP_HOURS is not a number from 1 to ${MAX_HOURS}`)
  if (BACKUP_KEPT_DAYS !== undefined && readNumber(BACKUP_KEPT_DAYS, MAX_BACKUP_DAYS) === null)
    faults.push(`BACKUP_KEPT_DAYS is not a number from 1 to ${MAX_BACKUP_DAYS}`)
  return faults
}

function readNumber(text: string | undefined, max: number): number | null {
  if (text === undefined || !/^[1-9]\d{0,3}$/.test(text)) return null
  return Number(text) <= max ? Number(text) : null
}
