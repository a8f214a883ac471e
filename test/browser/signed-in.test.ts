/** signed-in.test.ts: what ends or replaces a sign-in while the page is open, in a real Chromium. */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, DESKTOP, DESKTOP_AND_PHONE, PHONE, untilSettled } from "./page.ts"
import {
  callAsOwner,
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

describe("two users in one browser", () => {
  const tokenOf = (user: string): Promise<string> => signToken(user, "member")

  test("[SP5] a message that one user couldn't send is never sent by another user's page that is open at the same time", async () => {
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
  testInFull("[SP7] in the middle of an answer is replaced, and nothing of the answer is lost", async () => {
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
    // The server closes the socket with the same code as when a token expires.
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
    // The token expires during the pause.
    const steps = [
      { type: "text_delta", delta: words.slice(0, 1_000) },
      { type: "pause", ms: 8_000 },
      { type: "text_delta", delta: words.slice(1_000) },
    ]
    await askQuestion(page, `/script ${JSON.stringify([steps])}`)
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
  test.each(DESKTOP_AND_PHONE)(
    "[SP8] the sign-in screen, the user's menu and its panel: axe finds no violations, and text is aligned to the start edge, on a %s",
    async (_name, size, colorScheme) => {
      const options = { viewport: size, colorScheme, bypassCSP: true, reducedMotion: "reduce" } as const
      const { context, page, errors } = await openVisitor(setup, "/", options)
      await page.waitForSelector(".sign-in a", SOON)
      expect(await findViolations(page)).toEqual([])
      await page.evaluate(() => (document.documentElement.dir = "rtl"))
      expect(await findWrongEdges(page, ".sign-in p")).toEqual([])
      // On a phone, the menu is in the drawer.
      await page.setViewportSize(DESKTOP)
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
  test("[PG88] sees a note about the erasure, live and after a reload, and can sign in as somebody else", async () => {
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
