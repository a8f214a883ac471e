/** admin-main.tsx: the entry point of the admin page: signs in as the chat page does, and renders the sections. */

import { computed, signal } from "@preact/signals"
import { render } from "preact"
import { userMenu } from "../account/deferred-account.ts"
import { tokenResponse } from "../account/token-response.ts"
import { readIdentity } from "../account/identity.ts"
import { createUserGuard } from "../account/user-guard.ts"
import { openStorage } from "../ui/browser-storage.ts"
import { createJsonRequest, describeError } from "../net/http-request.ts"
import { RequestHold } from "../net/request-hold.ts"
import { USER_KEY } from "../net/user-storage.ts"
import { AdminApi, createAdminFetch } from "./admin-api.ts"
import { AdminPage } from "./admin-page.tsx"
import "../styles/base.css"
import "../styles/page.css"
import "../styles/dialog.css"
import "../styles/sidebar/import-sharing.css"
import "../styles/sidebar/account.css"
import "../styles/sidebar/budget-meters.css"
import "../styles/admin/admin-page.css"
import "../styles/admin/admin-rows.css"
import "../styles/admin/admin-forms.css"
import "../styles/admin/admin-narrow.css"
import "../styles/admin/usage.css"
import "../styles/admin/theme-form.css"
import "../styles/admin/card-playground.css"
import "../styles/admin/server-rows.css"

const DEV_TOKEN_ROUTE = "/v1/dev/token"

const storage = openStorage()
const guardUser = createUserGuard(storage, { user: storage.getItem(USER_KEY) })
const fault = signal<string | null>(null)
const identity = computed(() => (tokenResponse.value === null ? null : readIdentity(tokenResponse.value)))

const hold = new RequestHold()
const api = new AdminApi({
  hold,
  fetch: createAdminFetch(hold, (url, init) => {
    // On a developer's machine, the page automatically signs in as an owner.
    const body = url === DEV_TOKEN_ROUTE ? createJsonRequest("POST", { role: "owner" }) : {}
    return fetch(url, { ...init, ...body })
  }),
  now: Date.now,
  // Only a server on a developer's machine issues tokens without a sign-in. Other servers are reached over HTTPS.
  tokenRoutes: location.protocol === "http:" ? [DEV_TOKEN_ROUTE, "/auth/token"] : ["/auth/token"],
  getEmbeddedToken: globalThis.cuecard?.getToken,
  async onToken(response) {
    await guardUser(response)
    tokenResponse.value = response
  },
  onSignedOut: (refusal) =>
    void import("../account/sign-in-screen.tsx").then(({ showSignIn }) => showSignIn(storage, refusal)),
})

void userMenu.load()
api.getToken().catch((error: unknown) => {
  fault.value = describeError(error)
})
const root = document.getElementById("app")
if (root !== null) render(<AdminPage api={api} identity={identity} fault={fault} />, root)
