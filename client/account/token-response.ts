/** token-response.ts: the most recent token response, which also says who the user is. */

import { signal } from "@preact/signals"
import type { TokenResponse } from "../net/token-source.ts"

/** The latest token response; null until there is a token. */
export const tokenResponse = signal<TokenResponse | null>(null)
