/** theme-rpc.ts: the tenant object's methods for the theme. Pure. */

import type { Result } from "../../shared/fault.ts"
import type { Theme, ThemeView } from "../../shared/theme/page-theme.ts"
import type { Actor } from "../platform/rpc/actor.ts"

export interface StoredLogo {
  /** A hash of the bytes. */
  readonly id: string
  readonly bytes: ArrayBuffer
}

/** The theme in a tenant's archive. */
export interface StoredTheme {
  /** Null: the default theme. */
  readonly theme: Theme | null
  readonly logo: { readonly id: string; readonly base64: string } | null
}

export interface ThemeRpc {
  /** Returns the theme. Stores nothing. */
  getTheme(): ThemeView
  /** Sets the theme; null resets it and removes the logo. Errors: `tenant_erased`. */
  setTheme(actor: Actor, theme: Theme | null): Result<ThemeView>
  /** Sets the logo; null removes it. Errors: `tenant_erased`. */
  setLogo(actor: Actor, logo: StoredLogo | null): Result<ThemeView>
  /** Returns the bytes of the logo with this id; null if there is none. Stores nothing. */
  getLogo(id: string): ArrayBuffer | null
}
