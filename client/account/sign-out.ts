/** sign-out.ts: ends the sign-in, and removes everything of the user from the page. Source: SPEC SP6, SP7. */

import { render } from "preact"
import { openStorage } from "../ui/browser-storage.ts"
import { USER_KEY } from "../net/user-storage.ts"
import { createJsonRequest, readJson } from "../net/http-request.ts"
import { putUserAside } from "./switch-user.ts"

/** Longest wait for the server, in milliseconds. */
const SIGN_OUT_TIMEOUT_MS = 15_000

/** Signs out here, or in every browser of the user. Throws if the server can't be reached or refuses; nothing has changed then. */
export async function signOut(everywhere: boolean): Promise<void> {
  const request = createJsonRequest("POST", { everywhere })
  await readJson(await fetch("/auth/logout", { ...request, signal: AbortSignal.timeout(SIGN_OUT_TIMEOUT_MS) }))
  leavePage()
}

/** Removing the user from the storage makes the other tabs load again. The page is emptied, because browsers keep pages. */
function leavePage(): void {
  const root = document.getElementById("app")
  if (root !== null) render(null, root)
  const storage = openStorage()
  putUserAside(storage, storage.getItem(USER_KEY))
  location.replace("/")
}
