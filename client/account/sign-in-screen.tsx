/**
 * sign-in-screen.tsx: shown while nobody is signed in, with the tenant and a link for each sign-in provider.
 *
 * GET /auth/providers → links to /auth/login, which redirects to the provider and back to the same conversation.
 * Source: SPEC SP4, SP6.
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
import { appText, formatDocumentTitle } from "../words/page-text.ts"
import { setUserAside } from "./switch-user.ts"
import { watchUser } from "./watch-user.ts"

/** Timeout for loading the list of providers, in milliseconds. */
const PROVIDERS_TIMEOUT_MS = 15_000

const parseProviders = createParser<SignInProviders>({
  tenant: (value) => value === null || isString(value),
  providers: isListOf(hasShape({ name: isString, label: isString })),
})

/** Replaces the page with the sign-in screen, and sets the user's unsent messages aside. */
export function showSignIn(storage: KeyValueStorage, refusal: RequestError): void {
  const root = document.getElementById("app")
  const user = storage.getItem(USER_KEY)
  setUserAside(storage, user)
  watchUser(() => true)
  if (root === null) return
  const error = takeSignInError() ?? (refusal.status === 403 ? refusal.message : null)
  document.title = formatDocumentTitle(signInText.title)
  render(null, root)
  render(<SignInScreen error={error} areDraftsKept={user !== null && refusal.code !== "user_erased"} />, root)
}

/** The URL hash after a failed sign-in. It contains an error code. */
const ERROR_HASH = /^#\/signin-error\/([a-z_]{1,40})$/
/** The session storage key for the URL to return to after signing in at the provider. */
const TARGET_KEY = "cuecard.sign-in.to"

/**
 * Returns the text for the error code in the URL after a failed sign-in, and restores the URL at which the sign-in
 * began. Returns null if there is no error.
 */
function takeSignInError(): string | null {
  const code = ERROR_HASH.exec(location.hash)?.[1]
  if (code === undefined) return null
  history.replaceState(history.state, "", readTarget())
  return signInErrorText[SIGN_IN_ERRORS.find((known) => known === code) ?? "internal"]
}

/**
 * Returns the stored URL if it is a path on this site, and otherwise "/". Other tabs can't write this value, but an
 * older version of the page may have written something else.
 */
function readTarget(): string {
  try {
    const target = sessionStorage.getItem(TARGET_KEY) ?? ""
    return /^\/(?![/\\])/.test(target) ? target : "/"
  } catch {
    return "/"
  }
}

interface SignInScreenProps {
  /** Why the last sign-in failed; null if it didn't. */
  readonly error: string | null
  /** True if a user was signed in on this browser and their account still exists, so their drafts were kept. */
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
    // Storage is blocked, so a failed sign-in leads to the start page.
  }
}

/** Returns the URL of the open conversation, or of the open section of the admin page. */
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
  const loadProviders = (): void => {
    fault.value = null
    fetchProviders().then(
      (loaded) => (providers.value = loaded),
      (error: unknown) => (fault.value = describeError(error)),
    )
  }
  useEffect(loadProviders, [])
  return { providers: providers.value, fault: fault.value, load: loadProviders }
}

/** Loads the providers. A deployment without sign-in doesn't have this route, so there are no providers. */
async function fetchProviders(): Promise<SignInProviders> {
  const response = await fetch("/auth/providers", { signal: AbortSignal.timeout(PROVIDERS_TIMEOUT_MS) })
  if (response.status === 404) return { tenant: null, providers: [] }
  return await parseBody(response, parseProviders)
}
