/** sign-in-pages.ts: a server whose page signs in with a real OpenID provider, and the steps that a user takes. */

import { type Cuecard, startCuecard } from "cuecard/testing"
import { SignJWT } from "jose"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider, type TestProvider } from "../support/oidc-provider.ts"

export const SOON = { timeout: 20_000 }
export const TENANT = "acme"
export const SECRET = "a-secret-for-the-tests-of-the-sign-in-0123456789"

export interface SignInSetup {
  cuecard: Cuecard
  provider: TestProvider
  browser: Browser
}

/**
 * Starts the server, the provider and the browser. `vars` are deployment variables, in addition to those for the
 * sign-in.
 */
export function useSignIn(vars: Readonly<Record<string, string>> = {}): Readonly<SignInSetup> {
  const setup: Partial<SignInSetup> = {}
  beforeAll(async () => {
    const cuecard = await startCuecard({
      onLog: console.log,
      vars: { AUTH: "jwt", PAGE_TENANT: TENANT, JWT_SECRET: SECRET, ...vars },
    })
    setup.cuecard = cuecard
    setup.provider = await startOidcProvider({ redirectUris: [`${cuecard.url}/auth/callback/staff`] })
    setup.browser = await openChromium()
    const registered = await callAsOwner(cuecard, "PUT", "/v1/issuers/staff", {
      issuer: setup.provider.issuer,
      audience: "https://api.example.com",
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      label: "Acme Staff",
      role_claim: "role",
    })
    if (!registered.ok) throw new Error(await registered.text())
  })
  afterAll(async () => {
    await closeContexts(setup.browser)
    await setup.provider?.close()
    await setup.cuecard?.close()
  })
  // `beforeAll` sets all fields before the first test.
  return setup as SignInSetup
}

/** Creates a token as an integrator would, signed with the deployment's secret. */
export function signToken(user: string, role: string, life = "1h"): Promise<string> {
  return new SignJWT({ tenant: TENANT, role })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(user)
    .setIssuedAt()
    .setExpirationTime(life)
    .setJti(crypto.randomUUID())
    .sign(new TextEncoder().encode(SECRET))
}

export async function callAsOwner(cuecard: Cuecard, method: string, path: string, body: object): Promise<Response> {
  const headers = {
    authorization: `Bearer ${await signToken("the-owner", "owner")}`,
    "content-type": "application/json",
  }
  return await fetch(`${cuecard.url}${path}`, { method, headers, body: JSON.stringify(body) })
}

export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** Uncaught exceptions, and console errors except those about refused requests. */
  readonly errors: string[]
}

/** Opens the page in a new browser context. `at` is its path and hash. */
export async function openVisitor({ browser, cuecard }: SignInSetup, at = "/", options = {}): Promise<Visitor> {
  const context = await browser.newContext(options)
  const { page, errors } = await openTab(context, `${cuecard.url}${at}`)
  return { context, page, errors }
}

export async function openTab(context: BrowserContext, url: string): Promise<Omit<Visitor, "context">> {
  const page = await context.newPage()
  const errors: string[] = []
  page.on("pageerror", (error) => errors.push(String(error)))
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) errors.push(message.text())
  })
  await page.goto(url)
  return { page, errors }
}

/** Goes from the sign-in screen to the provider's login form. */
export async function goToProvider(page: Page): Promise<void> {
  await page.click("text=Continue with Acme Staff", SOON)
  await page.waitForSelector("input[name=login]", SOON)
}

/** Fills in the provider's form. The next form asks for consent, unless the user has given it before. */
export async function enterLogin(page: Page, login: string): Promise<void> {
  await page.fill("input[name=login]", login)
  await page.fill("input[name=password]", "any")
  await page.click("button[type=submit]")
  await page.waitForSelector("input[name=prompt][value=consent]", { state: "attached", ...SOON })
}

export async function giveConsent(page: Page): Promise<void> {
  await page.click("button[type=submit]")
}

/** Signs in, starting on the sign-in screen, and waits until the page is back. */
export async function signIn(page: Page, login: string): Promise<void> {
  await goToProvider(page)
  await enterLogin(page, login)
  await giveConsent(page)
  await page.waitForSelector(".account-button", SOON)
}

export async function openMenu(page: Page): Promise<void> {
  await page.click(".account-button", SOON)
  await page.waitForSelector(".account-panel", SOON)
}

export async function untilSignedOut(page: Page): Promise<void> {
  await page.waitForSelector(".sign-in", SOON)
}
