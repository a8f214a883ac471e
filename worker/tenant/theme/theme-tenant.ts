/** theme-tenant.ts: the tenant object's methods for the theme. Source: SPEC TH5. */

import { type Result, succeed } from "../../../shared/fault.ts"
import type { Theme, ThemeView } from "../../../shared/theme/page-theme.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { StoredLogo, ThemeRpc } from "../../settings/theme-rpc.ts"
import { CardTenant } from "../cards/card-tenant.ts"
import { changeLogo, changeTheme, findLogo, findTheme } from "./tenant-theme.ts"

export abstract class ThemeTenant extends CardTenant implements ThemeRpc {
  getTheme(): ThemeView {
    return findTheme(this.host)
  }

  setTheme(actor: Actor, theme: Theme | null): Result<ThemeView> {
    return this.host.change(() => succeed(changeTheme(this.host, actor, theme)))
  }

  setLogo(actor: Actor, logo: StoredLogo | null): Result<ThemeView> {
    return this.host.change(() => succeed(changeLogo(this.host, actor, logo)))
  }

  getLogo(id: string): ArrayBuffer | null {
    return findLogo(this.host, id)
  }
}
