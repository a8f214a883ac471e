/**
 * user-guard.ts: notices when the user of the page changes.
 *
 * The browser's storage remembers the last user, whose unsent messages the page shows. Before the token of another user is used, the page
 * is reloaded. Source: SPEC SP5.
 */

import type { KeyValueStorage } from "../net/outbox.ts"
import { readUser, type TokenResponse } from "../net/token-source.ts"
import type { UserStorage } from "../net/user-storage.ts"

/** Returns a function for every new token. It doesn't return if the page has to be loaded again for another user. */
export function createUserGuard(
  storage: KeyValueStorage,
  page: Pick<UserStorage, "user">,
): (response: TokenResponse) => Promise<void> {
  return async ({ token }) => {
    const user = readUser(token)
    if (user !== page.user) await (await import("./switch-user.ts")).switchUser(storage, page.user, user)
    page.user = user
  }
}
