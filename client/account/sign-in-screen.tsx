/**
 * sign-in-screen.tsx: what the page shows while nobody is signed in: the tenant, and a link for each sign-in provider.
 *
 * GET /auth/providers → links to /auth/login, which leads to the provider and back to the same conversation. Source: SPEC
 * SP4, SP6.
 */

import { useSignal } from "@preact/signals"
import { render, type VNode } from "preact"
import { useEffect } from "preact/hooks"
import { createParser, hasShape, isListOf, isString } from "../../shared/protocol/shape-check.ts"
import { describeError, parseBody, type RequestError } from "../net/http-request.ts"
import type { KeyValueStorage } from "../net/outbox.ts"
import { Logo } from "../ui/logo.tsx"
import { signInErrorText, signInText } from "../words/account-text.ts"
import { appText } from "../words/page-text.ts"
import { putUserAside } from "./switch-user.ts"
import { USER_KEY } from "./user-guard.ts"
import { watchUser } from "./watch-user.ts"

/** Longest wait for the list of providers, in milliseconds. */
const PROVIDERS_TIMEOUT_MS = 15_000

interface Providers {
  readonly tenant: string
  readonly providers: readonly { readonly name: string; readonly label: string }[]
}

const parseProviders = createParser<Providers>({
  tenant: isString,
  providers: isListOf(hasShape({ name: isString, label: isString })),
})

/** Replaces the page by the sign-in screen, and puts the user's unsent messages aside. */
export function showSignIn(storage: KeyValueStorage, refusal: RequestError): void {
  const root = document.getElementById("app")
  const user = storage.getItem(USER_KEY)
  putUserAside(storage, user)
  watchUser()
  if (root === null) return
  const error = takeSignInError() ?? (refusal.status === 403 ? refusal.message : null)
  document.title = appText.documentTitle(signInText.title)
  render(null, root)
  render(<SignInScreen error={error} hadUser={user !== null} />, root)
}

/** The text of the code that a failed sign-in added to the address. It is removed, so that a reload doesn't show it again. */
function takeSignInError(): string | null {
  const url = new URL(location.href)
  const code = url.searchParams.get("sign_in_error")
  if (code === null) return null
  url.searchParams.delete("sign_in_error")
  history.replaceState(history.state, "", url)
  return (Object.hasOwn(signInErrorText, code) ? signInErrorText[code] : undefined) ?? signInErrorText["other"] ?? ""
}

interface SignInScreenProps {
  /** Why the last sign-in failed. */
  readonly error: string | null
  /** The sign-in of a user has ended. */
  readonly hadUser: boolean
}

function SignInScreen({ error, hadUser }: SignInScreenProps): VNode {
  const { providers, fault, load } = useProviders()
  const label = providers === null || providers.tenant === "" ? null : providers.tenant
  return (
    <main class="sign-in">
      <div>
        <p class="brand">
          <Logo /> {appText.name}
        </p>
        <h1>{signInText.title}</h1>
        <p dir="auto">{label === null ? signInText.lead : signInText.leadFor(label)}</p>
        {error !== null && (
          <p class="fault" role="alert">
            {error}
          </p>
        )}
        {fault !== null && (
          <>
            <p class="fault" role="alert">
              {fault}
            </p>
            <button type="button" onClick={load}>
              {signInText.retry}
            </button>
          </>
        )}
        {providers === null && fault === null && <p role="status">{signInText.loading}</p>}
        {providers?.providers.length === 0 && <p>{signInText.none}</p>}
        {providers !== null && providers.providers.length > 0 && (
          <ul>
            {providers.providers.map(({ name, label }, index) => (
              <li key={name}>
                <a class={index === 0 ? "firm" : undefined} href={loginHref(name)}>
                  <bdi>{signInText.continueWith(label)}</bdi>
                </a>
              </li>
            ))}
          </ul>
        )}
        {hadUser && <p class="hint">{signInText.draftsKept}</p>}
      </div>
    </main>
  )
}

/** Leads back to the open conversation. */
function loginHref(provider: string): string {
  const to = `${location.pathname}${location.search}${location.hash}`
  return `/auth/login?${new URLSearchParams({ provider, to }).toString()}`
}

interface ProvidersState {
  readonly providers: Providers | null
  readonly fault: string | null
  load(): void
}

function useProviders(): ProvidersState {
  const providers = useSignal<Providers | null>(null)
  const fault = useSignal<string | null>(null)
  const load = (): void => {
    fault.value = null
    fetchProviders().then(
      (loaded) => (providers.value = loaded),
      (error: unknown) => (fault.value = describeError(error)),
    )
  }
  useEffect(load, [])
  return { providers: providers.value, fault: fault.value, load }
}

/** A deployment without sign-in has no such route, and so no providers. */
async function fetchProviders(): Promise<Providers> {
  const response = await fetch("/auth/providers", { signal: AbortSignal.timeout(PROVIDERS_TIMEOUT_MS) })
  if (response.status === 404) return { tenant: "", providers: [] }
  return await parseBody(response, parseProviders)
}
