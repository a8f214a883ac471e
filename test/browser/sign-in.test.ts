/** sign-in.test.ts: the page signs in with a real OpenID provider, in a real Chromium. */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { CLIENT_ID } from "../support/oidc-provider.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, DESK, PHONE, sessionIn, untilSettled } from "./page.ts"
import {
  callAsOwner,
  giveConsent,
  enterLogin,
  goToProvider,
  openMenu,
  openTab,
  signIn,
  signToken,
  SOON,
  TENANT,
  untilSignedOut,
  useSignIn,
  openVisitor,
} from "./sign-in-pages.ts"

const setup = useSignIn({ SCRIPTED_DELAY_MS: "10" })

const url = (at = "/"): string => `${setup.cuecard.url}${at}`

describe("signing in", () => {
  test("[SP2] [SP4] while nobody is signed in, the screen names the tenant and the providers, and no token is requested", async () => {
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
    expect(requests.filter((one) => one.includes("token"))).toEqual([])
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
    // In another browser, the same person begins at the conversation's URL.
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

  test("[SP4] the admin page asks to sign in too, and afterwards shows the section that was open", async () => {
    const { context, page } = await openVisitor(setup, "/admin#agents")
    await untilSignedOut(page)
    await signIn(page, "admin-mary")
    await expect.poll(() => page.textContent("h1")).toBe("Agents")
    expect(page.url()).toBe(url("/admin#agents"))
    await context.close()
  })
})

describe("a failed sign-in shows the reason:", () => {
  test("[SP4] denied consent", async () => {
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

  test("[SP4] a wrong state, and a code that was used before", async () => {
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
    // In this browser, nothing changes: the person stays signed in.
    await page.goto(callback)
    await page.waitForSelector(".account-button", SOON)
    await context.close()
  })

  test("[SP4] a provider that is down", async () => {
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
  test("[SP6] in one tab also signs out the other tab; going back and forward shows none of the user's data", async () => {
    const { context, page, errors } = await openVisitor(setup)
    await signIn(page, "leaver")
    await askQuestion(page, "/say a secret text")
    await untilSettled(page)
    const tab = await openTab(context, page.url())
    await tab.page.waitForSelector("article", SOON)
    await openMenu(page)
    await page.click("text=Sign out")
    for (const one of [page, tab.page]) {
      await untilSignedOut(one)
      expect(await one.content()).not.toContain("a secret text")
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

  test("[SP3] [SP6] everywhere asks for confirmation, and ends the sign-in in another browser", async () => {
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
    // The server closes the other browser's socket, so nothing has to be done there.
    await untilSignedOut(other.page)
    expect(await other.page.content()).not.toContain("hello")
    await one.context.close()
    await other.context.close()
  })

  test("[SI13] leads to the provider's sign-out if it is registered so; signing in then needs a login again", async () => {
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
    // The provider asks, and leads back.
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

  test("[SP3] is reported if it fails, and the user stays signed in", async () => {
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

  test("[SP5] [SP6] hides unsent messages and drafts from the next user, and the previous user finds both again", async () => {
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
    // Another person uses the browser now, so the provider must not recognise the previous one.
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
  })
})

describe("two users in one browser", () => {
  const tokenOf = (user: string): Promise<string> => signToken(user, "member")

  test("[SP5] a message that one user couldn't send is never sent by another user's page open at the same time", async () => {
    const context = await setup.browser.newContext()
    const openEmbedded = async (user: string) => {
      const page = await context.newPage()
      const token = await tokenOf(user)
      await page.addInitScript(
        (given) => Object.assign(globalThis, { cuecard: { getToken: async () => given } }),
        token,
      )
      await page.goto(url())
      await page.waitForSelector(".account-button", SOON)
      return page
    }
    const ada = await openEmbedded("ada-embedded")
    const bob = await openEmbedded("bob-embedded")
    const posts: string[] = []
    bob.on("request", (request) => {
      if (request.method() === "POST" && request.url().endsWith("/v1/sessions")) posts.push(request.postData() ?? "")
    })
    await ada.route("**/v1/sessions", (route) =>
      route.request().method() === "POST" ? route.abort() : route.continue(),
    )
    await askQuestion(ada, "a message of ada's")
    await ada.waitForSelector("text=a message of ada's", SOON)
    await ada.close()
    await bob.waitForTimeout(3_000)
    expect(posts).toEqual([])
    expect(await bob.content()).not.toContain("a message of ada's")
    await context.close()
  })

  test("[SP6] a signed-in tab reloads when another user signs in", async () => {
    const { context, page } = await openVisitor(setup)
    await signIn(page, "tab-user")
    const loaded = page.waitForEvent("load", SOON)
    const other = await context.newPage()
    await other.route("**/*", (route) => route.fulfill({ contentType: "text/html", body: "<p>other</p>" }))
    await other.goto(url("/other"))
    await other.evaluate(() => localStorage.setItem("cuecard.user", "acme/somebody-else"))
    await loaded
    await context.close()
  })
})

describe("a browser that blocks storage", () => {
  test.each(["/", "/admin"])("[SP6] signing out on %s ends the sign-in, and empties the page", async (at) => {
    const { context, page, errors } = await openVisitor(setup)
    await signIn(page, "stayer")
    await context.addInitScript(() => {
      const get = (): never => {
        throw new DOMException("Access is denied", "SecurityError")
      }
      Object.defineProperty(globalThis, "localStorage", { get })
    })
    await page.goto(url(at))
    await page.reload()
    await openMenu(page)
    await page.click(".account-panel >> text='Sign out'")
    await untilSignedOut(page)
    expect(await page.content()).not.toContain("You're still signed in")
    expect(errors).toEqual([])
    await context.close()
  })
})

describe("a token that is revoked", () => {
  test("[SP7] in the middle of an answer is replaced, and nothing of the answer is lost", async () => {
    const { context, page, errors } = await openVisitor(setup)
    const tokens: string[] = []
    page.on("response", async (response) => {
      if (!response.url().endsWith("/auth/token") || !response.ok()) return
      tokens.push(((await response.json()) as { token: string }).token)
    })
    await signIn(page, "renewer")
    const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ")
    await askQuestion(page, `/say ${words}`)
    await page.waitForSelector("article[data-role=assistant] >> text=word9", SOON)
    const before = tokens.length
    const headers = { authorization: `Bearer ${tokens.at(-1)}`, "content-type": "application/json" }
    // The server closes the socket with the same code as when the token expires.
    const revoked = await fetch(url("/v1/tokens/revoke"), { method: "POST", headers, body: "{}" })
    expect(revoked.status).toBe(200)
    expect(await page.getAttribute("article[data-role=assistant]", "data-status")).toBe("running")
    await expect.poll(() => tokens.length).toBeGreaterThan(before)
    expect(await page.getAttribute("article[data-role=assistant]", "data-status")).toBe("running")
    await untilSettled(page)
    expect(await page.textContent("article[data-role=assistant] .prose")).toBe(words)
    expect(await page.locator(".sign-in").count()).toBe(0)
    expect(errors).toEqual([])
    await context.close()
  })
})

describe("a token that expires", () => {
  test("[SP7] in the middle of an answer is renewed, and nothing of the answer is lost", async () => {
    const context = await setup.browser.newContext()
    let issued = 0
    // The page waits at least 20 s between renewals of a socket's token, so these tokens expire first.
    await context.exposeFunction("issueToken", () => {
      issued++
      return signToken("short-lived", "member", "5s")
    })
    await context.addInitScript(() => {
      const { issueToken } = globalThis as unknown as { issueToken: () => Promise<string> }
      Object.assign(globalThis, { cuecard: { getToken: () => issueToken() } })
    })
    const { page, errors } = await openTab(context, url())
    const closedWhile: (string | null)[] = []
    page.on("websocket", (socket) =>
      socket.on("close", () => {
        const answer = page.locator("article[data-role=assistant]")
        void answer.getAttribute("data-status").then((status) => closedWhile.push(status))
      }),
    )
    const words = Array.from({ length: 1_500 }, (_, index) => `word${index}`).join(" ")
    await askQuestion(page, `/say ${words}`)
    await page.waitForSelector("article[data-role=assistant] >> text=word9", SOON)
    await expect.poll(() => closedWhile, { timeout: 30_000 }).toContain("running")
    const before = issued
    await untilSettled(page)
    expect(before).toBeGreaterThan(1)
    await page.reload()
    await untilSettled(page)
    const showMore = page.getByRole("button", { name: "Show more" })
    while ((await showMore.count()) > 0) await showMore.first().click()
    await expect.poll(() => page.textContent("article[data-role=assistant] .prose")).toBe(words)
    expect(await page.locator(".sign-in").count()).toBe(0)
    expect(errors).toEqual([])
    await context.close()
  })
})

describe("accessibility", () => {
  test.each([
    [DESK, "light"],
    [PHONE, "dark"],
  ] as const)(
    "[SP8] the sign-in screen, the user's menu and its panel: axe finds nothing, and texts are aligned to the start edge",
    async (size, colorScheme) => {
      const options = { viewport: size, colorScheme, bypassCSP: true, reducedMotion: "reduce" } as const
      const { context, page, errors } = await openVisitor(setup, "/", options)
      await page.waitForSelector(".sign-in a", SOON)
      expect(await findViolations(page)).toEqual([])
      await page.evaluate(() => (document.documentElement.dir = "rtl"))
      expect(await findWrongEdges(page, ".sign-in p")).toEqual([])
      // On a phone the menu is in the drawer.
      await page.setViewportSize(DESK)
      await signIn(page, "axel")
      await page.setViewportSize(size)
      if (size === PHONE) await page.click(".drawer-button")
      await openMenu(page)
      expect(await findViolations(page)).toEqual([])
      await page.evaluate(() => (document.documentElement.dir = "rtl"))
      await page.screenshot({ path: `test/browser/out/account-rtl-${colorScheme}.png` })
      expect(await findWrongEdges(page, ".account-panel dd, .names > *")).toEqual([])
      expect(errors).toEqual([])
      await context.close()
    },
  )
})

/** Returns the elements whose text doesn't begin at the right edge, on a right-to-left page. */
function findWrongEdges(page: Page, selector: string): Promise<string[]> {
  return page.$$eval(selector, (all) =>
    all
      .filter((element) => {
        const range = document.createRange()
        range.selectNodeContents(element)
        const { paddingRight } = getComputedStyle(element)
        const edge = element.getBoundingClientRect().right - Number.parseFloat(paddingRight)
        return element.textContent !== "" && edge - range.getBoundingClientRect().right > 2
      })
      .map((element) => element.outerHTML),
  )
}

describe("a user who is erased", () => {
  test("[PG88] sees a note that says so, live and after a reload, and can sign in again as somebody else", async () => {
    const { page, context, errors } = await openVisitor(setup)
    await signIn(page, "erasable")
    await askQuestion(page, "/say hello")
    await untilSettled(page)
    await openMenu(page)
    const user = (await page.locator(".account-panel dd").last().textContent()) ?? ""
    const erased = await callAsOwner(setup.cuecard, "DELETE", `/v1/users/${encodeURIComponent(user)}`, {})
    expect(erased.status).toBe(202)
    await untilSignedOut(page)
    const note = "This account and all of its data were deleted. If you didn't expect this, ask an administrator."
    expect(await page.textContent(".sign-in .fault")).toBe(note)
    expect(await page.locator(".sign-in .hint").count()).toBe(0)
    await page.reload()
    await untilSignedOut(page)
    expect(await page.textContent(".sign-in .fault")).toBe(note)
    await page.screenshot({ path: "test/browser/out/sign-in-erased.png" })
    await context.clearCookies({ domain: new URL(setup.provider.issuer).hostname, name: /session/ })
    await signIn(page, "somebody-else")
    expect(errors).toEqual([])
    await context.close()
  })
})

describe("a product that embeds the page", () => {
  test("[SP1] [SP3] provides the token: nobody is asked to sign in, and the menu has no sign-out", async () => {
    const context = await setup.browser.newContext()
    const tokens = await Promise.all([signToken("embedded", "member")])
    await context.addInitScript((token) => {
      Object.assign(globalThis, { cuecard: { getToken: async () => token } })
    }, tokens[0] ?? "")
    const { page, errors } = await openTab(context, url())
    const requests: string[] = []
    page.on("request", (request) => requests.push(new URL(request.url()).pathname))
    await page.reload()
    await askQuestion(page, "/say hello")
    await untilSettled(page)
    await openMenu(page)
    expect(await page.locator(".account-panel dd").allTextContents()).toEqual([TENANT, "Member", "embedded"])
    expect(await page.locator(".account-panel :is(a, button)").allTextContents()).toEqual(["Settings"])
    expect(requests.filter((path) => path.endsWith("/token"))).toEqual([])
    expect(errors).toEqual([])
    await context.close()
  })
})
