/** token-response.ts: the response with the newest token, which identifies the user. */

import { signal } from "@preact/signals"
import type { TokenResponse } from "../net/token-source.ts"

/** Null until there is a token. */
export const tokenResponse = signal<TokenResponse | null>(null)
