/** sign-in.test.ts: signing in with a real OpenID provider and signing out, in a real Chromium. */

import { describe, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { CLIENT_ID } from "../support/oidc-provider.ts"
import { askQuestion, sessionIn, untilSettled } from "./page.ts"
import {
  callAsOwner,
  giveConsent,
  enterLogin,
  goToProvider,
  openMenu,
  openTab,
  signIn,
  SOON,
  TENANT,
  untilSignedOut,
  useSignIn,
  openVisitor,
} from "./sign-in-pages.ts"

const setup = useSignIn({ SCRIPTED_DELAY_MS: "10" })

const url = (at = "/"): string => `${setup.cuecard.url}${at}`

describe("signing in", () => {
  test("[SP2] [SP4] while nobody is signed in, the sign-in screen names the tenant and the providers, and no token is requested", async () => {
    const { context, page, errors } = await openVisitor(setup)
    await untilSignedOut(page)
    expect(await page.title()).toBe("Sign in · Cuecard")
    await expect.poll(() => page.textContent(".sign-in")).toContain(`Sign in to ${TENANT} to continue.`)
    expect(await page.locator(".sign-in a").allTextContents()).toEqual(["Continue with Acme Staff"])
    expect(await page.locator(".composer, .sidebar").count()).toBe(0)
    const requests: string[] = []
    page.on("request", (request) => requests.push(request.url()))
    await page.evaluate(() => dispatchEvent(new Event("online")))
    await page.waitForTimeout(1_500)
    expect(requests.filter((request) => request.includes("token"))).toEqual([])
    expect(errors).toEqual([])
    await context.close()
  })

  test("[SP3] [SP4] after signing in, the conversation that was open is shown; a reload and a second tab stay signed in", async () => {
    const { context, page, errors } = await openVisitor(setup)
    await signIn(page, "ada")
    await askQuestion(page, "/say hello")
    await untilSettled(page)
    const session = sessionIn(page)
    await openMenu(page)
    expect(await page.textContent(".account-button .names")).toBe(`Ada Example${TENANT}`)
    expect(await page.locator(".account-panel dd").allTextContents()).toEqual([
      TENANT,
      "Member",
      expect.stringMatching(/^o_/),
    ])
    expect(await page.locator(".account-panel :is(a, button)").allTextContents()).toEqual([
      "Settings",
      "Sign out",
      "Sign out everywhere…",
    ])
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    expect(await page.locator(".account-panel :focus").textContent()).toBe("Sign out")
    await page.reload()
    await page.waitForSelector("article", SOON)
    const tab = await openTab(context, url(`/#/s/${session}`))
    await tab.page.waitForSelector("article", SOON)
    // In another browser, the same person signs in starting from the conversation's URL.
    const other = await openVisitor(setup, `/#/s/${session}`)
    await signIn(other.page, "ada")
    await other.page.waitForSelector("article", SOON)
    expect(sessionIn(other.page)).toBe(session)
    expect([...errors, ...tab.errors, ...other.errors]).toEqual([])
    await other.context.close()
    await context.close()
  })

  test("[SP3] an owner's menu leads to the admin page, which the owner can use", async () => {
    await setup.provider.setFaults({})
    const { context, page, errors } = await openVisitor(setup)
    await signIn(page, "admin-grace")
    await openMenu(page)
    await page.click("text=Admin settings")
    await page.waitForSelector(".admin nav", SOON)
    expect(page.url()).toBe(url("/admin"))
    expect(await page.textContent(".admin .account-button b")).toBe("Grace Example")
    expect(errors).toEqual([])
    await context.close()
  })

  test("[SP4] the admin page also asks the user to sign in, and afterwards shows the section that was open", async () => {
    const { context, page } = await openVisitor(setup, "/admin#agents")
    await untilSignedOut(page)
    await signIn(page, "admin-mary")
    await expect.poll(() => page.textContent("h1")).toBe("Agents")
    expect(page.url()).toBe(url("/admin#agents"))
    await context.close()
  })
})

describe("a failed sign-in shows the reason:", () => {
  test("[SP4] consent is denied", async () => {
    const { context, page } = await openVisitor(setup, "/#/s/some-conversation")
    await goToProvider(page)
    await enterLogin(page, "denier")
    await page.click("a[href$='/abort']")
    await untilSignedOut(page)
    expect(await page.textContent(".sign-in [role=alert]")).toContain("You cancelled the sign-in")
    // The URL is the one at which the sign-in began, and the error isn't shown again after a reload.
    expect(page.url()).toBe(url("/#/s/some-conversation"))
    await page.reload()
    await untilSignedOut(page)
    expect(await page.locator(".sign-in [role=alert]").count()).toBe(0)
    // The provider still knows the person, and asks for consent again.
    await page.click("text=Continue with Acme Staff")
    await page.waitForSelector("input[name=prompt][value=consent]", { state: "attached", ...SOON })
    await giveConsent(page)
    await page.waitForSelector(".account-button", SOON)
    await context.close()
  })

  test("[SP4] the state is wrong, or the code was used before", async () => {
    const { context, page } = await openVisitor(setup)
    await goToProvider(page)
    await page.goto(url("/auth/callback/staff?code=abc&state=forged"))
    await untilSignedOut(page)
    expect(await page.textContent(".sign-in [role=alert]")).toContain("was started in another browser")
    let callback = ""
    page.on("request", (request) => {
      if (request.url().includes("/auth/callback/staff?")) callback = request.url()
    })
    await signIn(page, "replayed")
    expect(callback).toContain("code=")
    // The code doesn't work in another browser.
    const thief = await openVisitor(setup, callback.slice(url("").length))
    await untilSignedOut(thief.page)
    expect(await thief.page.textContent(".sign-in [role=alert]")).toContain("already used")
    await thief.context.close()
    // Nothing changes in the first browser: the person stays signed in.
    await page.goto(callback)
    await page.waitForSelector(".account-button", SOON)
    await context.close()
  })

  test("[SP4] the provider is down", async () => {
    const { context, page } = await openVisitor(setup)
    await goToProvider(page)
    await enterLogin(page, "patient")
    setup.provider.setFaults({ path: "/token", outage: "down" })
    await giveConsent(page)
    await untilSignedOut(page)
    expect(await page.textContent(".sign-in [role=alert]")).toContain("We couldn't reach your sign-in provider")
    setup.provider.setFaults({})
    await page.click("text=Continue with Acme Staff")
    await page.waitForSelector(".account-button", SOON)
    await context.close()
  })

  test("[SP4] the list of providers can't be loaded, and can be requested again", async () => {
    const { context, page } = await openVisitor(setup, "/admin")
    await untilSignedOut(page)
    await page.route("**/auth/providers", (route) => route.abort())
    await page.reload()
    await expect.poll(() => page.textContent(".sign-in [role=alert]")).toContain("We couldn't reach the server")
    await page.unroute("**/auth/providers")
    await page.click("button >> text=Try again")
    await page.waitForSelector(".sign-in a", SOON)
    await context.close()
  })
})

describe("signing out", () => {
  test("[SP6] in one tab also signs out the other tab; going back and forward doesn't show any of the user's data", async () => {
    const { context, page, errors } = await openVisitor(setup)
    await signIn(page, "leaver")
    await askQuestion(page, "/say a secret text")
    await untilSettled(page)
    const tab = await openTab(context, page.url())
    await tab.page.waitForSelector("article", SOON)
    await openMenu(page)
    await page.click("text=Sign out")
    for (const signedOut of [page, tab.page]) {
      await untilSignedOut(signedOut)
      expect(await signedOut.content()).not.toContain("a secret text")
    }
    for (const go of ["goBack", "goBack", "goForward"] as const) {
      await page[go]().catch(() => null)
      if (!page.url().startsWith(url(""))) break
      await untilSignedOut(page)
      expect(await page.content()).not.toContain("a secret text")
    }
    expect([...errors, ...tab.errors]).toEqual([])
    await context.close()
  })

  test("[SP3] [SP6] everywhere needs a confirmation, and signs the user out of another browser", async () => {
    const one = await openVisitor(setup)
    await signIn(one.page, "traveller")
    const other = await openVisitor(setup)
    await signIn(other.page, "traveller")
    await askQuestion(other.page, "/say hello")
    await untilSettled(other.page)
    await openMenu(one.page)
    await one.page.click("text=Sign out everywhere…")
    await one.page.waitForSelector("dialog[open]", SOON)
    await one.page.keyboard.press("Escape")
    expect(await one.page.locator(".account-button").count()).toBe(1)
    await openMenu(one.page)
    await one.page.click("text=Sign out everywhere…")
    await one.page.click("dialog[open] .grave")
    await untilSignedOut(one.page)
    // The server closes the other browser's socket, so the other page notices without a user action.
    await untilSignedOut(other.page)
    expect(await other.page.content()).not.toContain("hello")
    await one.context.close()
    await other.context.close()
  })

  test("[SI13] leads to the provider's sign-out if the issuer's registration says so; the next sign-in then needs a login", async () => {
    const registration = {
      issuer: setup.provider.issuer,
      audience: "https://api.example.com",
      client_id: CLIENT_ID,
      label: "Acme Staff",
      role_claim: "role",
    }
    const put = (logout: boolean) => callAsOwner(setup.cuecard, "PUT", "/v1/issuers/staff", { ...registration, logout })
    expect(await (await put(true)).json()).toMatchObject({ logout: true })
    const { context, page } = await openVisitor(setup)
    await signIn(page, "leaver")
    await openMenu(page)
    await page.click("text=Sign out")
    // The provider asks for confirmation, and redirects back.
    await page.waitForURL(`${setup.provider.issuer}/session/end?*`, SOON)
    expect(
      (await context.request.post(url("/auth/token"), { data: {}, headers: { origin: setup.cuecard.url } })).status(),
    ).toBe(401)
    await page.click("button[value=yes]")
    await untilSignedOut(page)
    expect(page.url()).toBe(url("/"))
    await goToProvider(page)
    await context.close()
    expect(await (await put(false)).json()).toMatchObject({ logout: false })
  })

  test("[SP3] reports a failure, and the user stays signed in", async () => {
    const { context, page } = await openVisitor(setup)
    await signIn(page, "stayer")
    await page.route("**/auth/logout", (route) => route.abort())
    await openMenu(page)
    await page.click("text=Sign out")
    await expect.poll(() => page.textContent(".account-panel [role=alert]")).toContain("You're still signed in.")
    await page.unroute("**/auth/logout")
    await page.click(".account-panel >> text=Sign out")
    await untilSignedOut(page)
    await context.close()
  })

  testInFull(
    "[SP5] [SP6] hides unsent messages and drafts from the next user, and the previous user finds both again",
    async () => {
      const { context, page } = await openVisitor(setup)
      await signIn(page, "first")
      await askQuestion(page, "/say one")
      await untilSettled(page)
      const firsts = page.url()
      // The server doesn't receive this message.
      await page.route("**/v1/sessions", (route) =>
        route.request().method() === "POST" ? route.abort() : route.continue(),
      )
      await page.goto(url("/#/"))
      await page.waitForSelector(".welcome", SOON)
      await askQuestion(page, "an unsent message")
      await page.waitForSelector("text=an unsent message", SOON)
      await page.goto(firsts)
      await page.waitForSelector("article", SOON)
      await page.fill(".composer textarea", "a half-written draft")
      await page.waitForTimeout(500)
      await openMenu(page)
      await page.click("text=Sign out")
      await untilSignedOut(page)
      await page.unroute("**/v1/sessions")
      // Another person uses the browser now, so the provider must not recognise the previous person.
      await context.clearCookies({ domain: new URL(setup.provider.issuer).hostname })
      await signIn(page, "second")
      await page.waitForSelector(".welcome", SOON)
      const posts: string[] = []
      page.on("request", (request) => {
        if (request.method() === "POST" && request.url().endsWith("/v1/sessions")) posts.push(request.postData() ?? "")
      })
      await page.reload()
      await page.waitForSelector(".welcome", SOON)
      await page.waitForTimeout(1_500)
      expect(await page.content()).not.toMatch(/unsent message|half-written/)
      expect(await page.inputValue(".composer textarea")).toBe("")
      expect(posts).toEqual([])
      await openMenu(page)
      await page.click("text=Sign out")
      await untilSignedOut(page)
      await context.clearCookies({ domain: new URL(setup.provider.issuer).hostname })
      await signIn(page, "first")
      await page.waitForSelector("text=an unsent message", SOON)
      await page.goto(firsts)
      await expect.poll(() => page.inputValue(".composer textarea")).toBe("a half-written draft")
      await context.close()
    },
  )
})
