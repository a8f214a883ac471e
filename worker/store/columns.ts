/** columns.ts: conversions between SQLite column values and JavaScript values. */

import { parseJson } from "../../shared/json.ts"

export function columnToText(value: SqlStorageValue | undefined): string {
  return typeof value === "string" ? value : ""
}

export function columnToTextOrNull(value: SqlStorageValue | undefined): string | null {
  return typeof value === "string" ? value : null
}

export function columnToNumberOrNull(value: SqlStorageValue | undefined): number | null {
  return typeof value === "number" ? value : null
}

/** Parses a column that `toJsonColumn` wrote. The type is not checked: the database contains only our own rows. */
export function parseJsonColumn<T>(value: SqlStorageValue | undefined): T | null {
  return typeof value === "string" ? (parseJson(value) as unknown as T) : null
}

export function toJsonColumn(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}
