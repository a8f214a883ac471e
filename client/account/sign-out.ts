/** sign-out.ts: signs the user out and clears their data from the page. Source: SPEC SP6, SP7. */

import { render } from "preact"
import { openStorage } from "../ui/browser-storage.ts"
import { USER_KEY } from "../net/user-storage.ts"
import { createJsonRequest, readJson } from "../net/http-request.ts"
import { setUserAside } from "./switch-user.ts"

/** Timeout for the request, in milliseconds. */
const SIGN_OUT_TIMEOUT_MS = 15_000

/**
 * Signs the user out of this browser or of all their browsers, and then of the provider if its registration says so.
 * Throws and changes nothing if the server can't be reached or refuses the request.
 */
export async function signOut(everywhere: boolean): Promise<void> {
  const request = createJsonRequest("POST", { everywhere })
  const response = await fetch("/auth/logout", { ...request, signal: AbortSignal.timeout(SIGN_OUT_TIMEOUT_MS) })
  const { location: provider } = Object(await readJson(response)) as { readonly location?: unknown }
  leavePage(typeof provider === "string" ? provider : "/")
}

/**
 * Empties the page, sets the user's data aside, and opens the URL `next`. The page is emptied because the browser may
 * restore it from its back/forward cache. The other tabs reload when the user is removed from the storage.
 */
function leavePage(next: string): void {
  const root = document.getElementById("app")
  if (root !== null) render(null, root)
  const storage = openStorage()
  setUserAside(storage, storage.getItem(USER_KEY))
  location.replace(next)
}
