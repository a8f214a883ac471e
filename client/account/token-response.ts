/** token-response.ts: the newest token's response, which says who the user is. */

import { signal } from "@preact/signals"
import type { TokenResponse } from "../net/token-source.ts"

/** Null until there is a token. */
export const tokenResponse = signal<TokenResponse | null>(null)
