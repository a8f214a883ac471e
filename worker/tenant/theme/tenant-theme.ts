/** tenant-theme.ts: reads and changes a tenant's theme, and records who changed it. Source: SPEC TH5. */

import { DEFAULT_THEME, type PageTheme, type Theme, type ThemeView } from "../../../shared/theme/page-theme.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { StoredLogo } from "../../settings/theme-rpc.ts"
import type { TenantHost } from "../tenant-host.ts"
import { readLogo, readStoredTheme, readTheme, writeLogo, writeTheme } from "./theme-rows.ts"

export function findTheme({ tables, sql, tenant }: TenantHost): ThemeView {
  return tables.exist() ? readTheme(sql, tenant) : { theme: { ...DEFAULT_THEME, logo: null }, revision: 0 }
}

/** Returns the theme; null if pages have the default theme. */
export function findPageTheme(host: TenantHost): PageTheme | null {
  return host.tables.exist() && readStoredTheme(host.sql) !== null ? findTheme(host).theme : null
}

export function findLogo({ tables, sql }: TenantHost, id: string): ArrayBuffer | null {
  return tables.exist() ? readLogo(sql, id) : null
}

export function changeTheme(host: TenantHost, actor: Actor, theme: Theme | null): ThemeView {
  writeTheme(host.sql, theme)
  if (theme === null) writeLogo(host.sql, null)
  const action = theme === null ? "theme.reset" : "theme.changed"
  host.audit.append(actor, { action, details: theme === null ? {} : describeTheme(theme) }, Date.now())
  return readTheme(host.sql, host.tenant)
}

export function changeLogo(host: TenantHost, actor: Actor, logo: StoredLogo | null): ThemeView {
  writeLogo(host.sql, logo)
  const details = { logo: logo?.id ?? null, bytes: logo?.bytes.byteLength ?? 0 }
  host.audit.append(actor, { action: "theme.changed", details }, Date.now())
  return readTheme(host.sql, host.tenant)
}

/**
 * Describes a theme for the audit log: its colours, its font, its measures and the number of its strings, but not the
 * strings themselves.
 */
function describeTheme({ accent, accent_text, font, radius, density, name, welcome, suggestions }: Theme) {
  return {
    accent: `${accent.light} ${accent.dark}`,
    accent_text: `${accent_text.light} ${accent_text.dark}`,
    font,
    radius,
    density,
    texts: [name, welcome].filter((text) => text !== "").length + suggestions.length,
  }
}
