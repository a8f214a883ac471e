/** theme-rows.ts: a tenant's theme and its logo, in the tenant object. Source: SPEC TH5, TH6. */

import { base64url } from "jose"
import { parseJson } from "../../../shared/json.ts"
import { DEFAULT_THEME, type Theme, type ThemeView } from "../../../shared/theme/page-theme.ts"
import type { StoredLogo, StoredTheme } from "../../settings/theme-rpc.ts"

/** One row, if the tenant has ever set a theme. A reset keeps the row, so that `revision` never repeats. */
export const THEME_TABLE = `CREATE TABLE theme (one INTEGER PRIMARY KEY CHECK (one = 1), config TEXT,
  logo_id TEXT, logo BLOB, revision INTEGER NOT NULL)`

type ThemeRow = { config: string | null; logo_id: string | null; revision: number }

/** Returns the path of a logo. The logo's id is a hash of its bytes, so that browsers can cache the logo forever. */
export function formatLogoPath(tenant: string, id: string): string {
  return `/media/logo/${tenant}/${id}.png`
}

export function readTheme(sql: SqlStorage, tenant: string): ThemeView {
  const [row] = sql.exec<ThemeRow>("SELECT config, logo_id, revision FROM theme").toArray()
  const logo = row?.logo_id == null ? null : formatLogoPath(tenant, row.logo_id)
  return { theme: { ...configToTheme(row?.config ?? null), logo }, revision: row?.revision ?? 0 }
}

/** Reads a logo; null if the tenant has replaced it. */
export function readLogo(sql: SqlStorage, id: string): ArrayBuffer | null {
  const [row] = sql.exec<{ logo: ArrayBuffer }>("SELECT logo FROM theme WHERE logo_id = ?", id).toArray()
  return row?.logo ?? null
}

/** Stores a theme. Null: the default theme. */
export function writeTheme(sql: SqlStorage, theme: Theme | null): void {
  writeColumns(sql, "config = ?", theme === null ? null : JSON.stringify(theme))
}

export function writeLogo(sql: SqlStorage, logo: StoredLogo | null): void {
  writeColumns(sql, "logo_id = ?, logo = ?", logo?.id ?? null, logo?.bytes ?? null)
}

function writeColumns(sql: SqlStorage, columns: string, ...values: readonly (string | ArrayBuffer | null)[]): void {
  sql.exec("INSERT OR IGNORE INTO theme (one, revision) VALUES (1, 0)")
  sql.exec(`UPDATE theme SET ${columns}, revision = revision + 1`, ...values)
}

/** Returns the theme for an export of the tenant; null if no theme was ever set. */
export function readStoredTheme(sql: SqlStorage): StoredTheme | null {
  const [row] = sql.exec<ThemeRow & { logo: ArrayBuffer | null }>("SELECT * FROM theme").toArray()
  if (row === undefined || (row.config === null && row.logo === null)) return null
  const theme = row.config === null ? null : configToTheme(row.config)
  if (row.logo_id === null || row.logo === null) return { theme, logo: null }
  return { theme, logo: { id: row.logo_id, base64: base64url.encode(new Uint8Array(row.logo)) } }
}

export function restoreTheme(sql: SqlStorage, { theme, logo }: StoredTheme): void {
  writeTheme(sql, theme)
  writeLogo(sql, logo === null ? null : { id: logo.id, bytes: new Uint8Array(base64url.decode(logo.base64)).buffer })
}

/** Parses the JSON that `writeTheme` wrote. Fields that a later version adds get their defaults. */
function configToTheme(config: string | null): Theme {
  return { ...DEFAULT_THEME, ...(config === null ? {} : (parseJson(config) as unknown as Theme)) }
}
