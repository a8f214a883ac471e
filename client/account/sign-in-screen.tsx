/**
 * sign-in-screen.tsx: the screen that the page shows while nobody is signed in: the tenant, and a link for each sign-in provider.
 *
 * GET /auth/providers → links to /auth/login, which leads to the provider and back to the same conversation. Source: SPEC
 * SP4, SP6.
 */

import { useSignal } from "@preact/signals"
import { render, type VNode } from "preact"
import { useEffect } from "preact/hooks"
import { SIGN_IN_ERRORS, type SignInProviders } from "../../shared/protocol/sign-in.ts"
import { createParser, hasShape, isListOf, isString } from "../../shared/protocol/shape-check.ts"
import { describeError, parseBody, type RequestError } from "../net/http-request.ts"
import type { KeyValueStorage } from "../net/outbox.ts"
import { USER_KEY } from "../net/user-storage.ts"
import { Logo } from "../ui/logo.tsx"
import { signInErrorText, signInText } from "../words/account-text.ts"
import { appText } from "../words/page-text.ts"
import { putUserAside } from "./switch-user.ts"
import { watchUser } from "./watch-user.ts"

/** Longest wait for the list of providers, in milliseconds. */
const PROVIDERS_TIMEOUT_MS = 15_000

const parseProviders = createParser<SignInProviders>({
  tenant: (value) => value === null || isString(value),
  providers: isListOf(hasShape({ name: isString, label: isString })),
})

/** Replaces the page with the sign-in screen, and puts the user's unsent messages aside. */
export function showSignIn(storage: KeyValueStorage, refusal: RequestError): void {
  const root = document.getElementById("app")
  const user = storage.getItem(USER_KEY)
  putUserAside(storage, user)
  watchUser(() => true)
  if (root === null) return
  const error = takeSignInError() ?? (refusal.status === 403 ? refusal.message : null)
  document.title = appText.documentTitle(signInText.title)
  render(null, root)
  render(<SignInScreen error={error} areDraftsKept={user !== null && refusal.code !== "user_erased"} />, root)
}

/** The hash of the address to which a failed sign-in leads, with a code. */
const ERROR_HASH = /^#\/signin-error\/([a-z_]{1,40})$/
/** Storage key of the page to return to, kept in this tab while the person is at the provider. */
const TARGET_KEY = "cuecard.sign-in.to"

/** The text of the code that a failed sign-in added to the address. The address is reset to the one from which the sign-in began. */
function takeSignInError(): string | null {
  const code = ERROR_HASH.exec(location.hash)?.[1]
  if (code === undefined) return null
  history.replaceState(history.state, "", readTarget())
  return signInErrorText[SIGN_IN_ERRORS.find((known) => known === code) ?? "internal"]
}

/** A path of this page: another tab of the same site can't write it, but an old version may have. */
function readTarget(): string {
  try {
    const target = sessionStorage.getItem(TARGET_KEY) ?? ""
    return /^\/(?![/\\])/.test(target) ? target : "/"
  } catch {
    return "/"
  }
}

interface SignInScreenProps {
  /** The reason why the last sign-in failed. */
  readonly error: string | null
  /** True if a user was signed in before and can come back. */
  readonly areDraftsKept: boolean
}

function SignInScreen({ error, areDraftsKept }: SignInScreenProps): VNode {
  const { providers, fault, load } = useProviders()
  const tenant = providers?.tenant ?? null
  return (
    <main class="sign-in">
      <div>
        <p class="brand">
          <Logo /> {appText.name}
        </p>
        <h1>{signInText.title}</h1>
        <p dir="auto">{tenant === null ? signInText.lead : signInText.leadFor(tenant)}</p>
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
                <a class={index === 0 ? "firm" : undefined} href={loginHref(name)} onClick={keepTarget}>
                  <bdi>{signInText.continueWith(label)}</bdi>
                </a>
              </li>
            ))}
          </ul>
        )}
        {areDraftsKept && <p class="hint">{signInText.draftsKept}</p>}
      </div>
    </main>
  )
}

function keepTarget(): void {
  try {
    sessionStorage.setItem(TARGET_KEY, getTarget())
  } catch {
    // Storage is forbidden: a failed sign-in leads to the start page.
  }
}

/** The open conversation, or the open section of the admin page. */
function getTarget(): string {
  return `${location.pathname}${location.hash}`
}

function loginHref(provider: string): string {
  const to = getTarget()
  return `/auth/login?${new URLSearchParams({ provider, to }).toString()}`
}

interface ProvidersState {
  readonly providers: SignInProviders | null
  readonly fault: string | null
  load(): void
}

function useProviders(): ProvidersState {
  const providers = useSignal<SignInProviders | null>(null)
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
async function fetchProviders(): Promise<SignInProviders> {
  const response = await fetch("/auth/providers", { signal: AbortSignal.timeout(PROVIDERS_TIMEOUT_MS) })
  if (response.status === 404) return { tenant: null, providers: [] }
  return await parseBody(response, parseProviders)
}
