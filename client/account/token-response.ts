/** token-response.ts: the newest token's response, which says who the user is. */

import { signal } from "@preact/signals"
import type { TokenResponse, TokenSource } from "../net/token-source.ts"

/** Null until there is a token. */
export const tokenResponse = signal<TokenResponse | null>(null)

/** Makes the requests of the user's menu. Null until the page has set it. */
export const accountRequests = signal<Pick<TokenSource, "fetchAuthorized"> | null>(null)
