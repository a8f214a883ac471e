/** deferred-account.ts: loads the user's menu, which the first view doesn't need. */

import { signal } from "@preact/signals"
import type { TokenResponse } from "../net/token-source.ts"
import { deferModule } from "../ui/deferred-module.ts"

export const userMenu = deferModule(() => import("./user-menu.tsx"))

/** The newest token's response, which says who the user is; null until there is one. */
export const tokenResponse = signal<TokenResponse | null>(null)
