/**
 * hostile.test.ts: hostile text from a model in a real Chromium: live, after a reload, in a shared copy and in the
 * widget. The tests run with the content security policy and, to test the renderer alone, without it. They also run
 * without sanitising, because the page must not depend on `clean`.
 */

import type { BrowserContext, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { MAX_PAGE_MESSAGES } from "../../shared/limits.ts"
import { CODE, HOSTILE } from "./hostile-texts.ts"
import { loadWholeHistory } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { allowSites, type Site, siteDocument, startSite } from "./widget-pages.ts"

/** The number of exchanges in the largest page of history. */
const PER_SESSION = MAX_PAGE_MESSAGES / 2

const setup = useServerAndBrowser()
let site: Site

beforeAll(async () => {
  site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
})
afterAll(async () => {
  await site?.close()
})

interface Watched {
  readonly page: Page
  /** Code that ran, dialogs, policy violations and requests to other hosts. */
  readonly found: string[]
}

/** Opens the page and records everything that it does but must not do. No request leaves the machine. */
async function openWatched(context: BrowserContext, at: string, isWithPolicy: boolean): Promise<Watched> {
  const { page, found } = await createWatched(context)
  await loadWholeHistory(context)
  const answer = await page.goto(`${setup.cuecard.url}/${at}`)
  expect(answer?.headers()["content-security-policy"], "the policy is there").toContain("trusted-types 'none'")
  expect(await page.evaluate(() => "trustedTypes" in globalThis)).toBe(true)
  expect(await runsInline(page)).toBe(!isWithPolicy)
  found.length = 0
  return { page, found }
}

/** Opens a session in the widget, on a site without a policy. */
async function openWidget(context: BrowserContext, session: string): Promise<Watched> {
  const watched = await createWatched(context)
  await loadWholeHistory(context)
  await watched.page.goto(site.serve(siteDocument(setup.cuecard, `session="${session}"`)))
  return watched
}

/** Creates a page, and records everything that it does but must not do. */
async function createWatched(context: BrowserContext): Promise<Watched> {
  const found: string[] = []
  const page = await context.newPage()
  const isOurs = (url: string): boolean => url.startsWith(setup.cuecard.url) || url.startsWith(site.origin)
  await page.exposeFunction("owned", (by: unknown) => void found.push(`ran ${String(by)}`))
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      const { violatedDirective, blockedURI } = event
      Reflect.apply(Reflect.get(globalThis, "owned"), null, [`policy ${violatedDirective} ${blockedURI}`])
    })
  })
  page.on("dialog", async (dialog) => {
    found.push(`dialog ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on("pageerror", (error) => found.push(`threw ${String(error)}`))
  page.on("popup", () => found.push("popup"))
  page.on("framenavigated", (frame) => {
    if (!isOurs(frame.url()) && frame.url() !== "about:blank") found.push(`went to ${frame.url()}`)
  })
  await context.route(
    (url) => !isOurs(url.href) && !/^(?:data|blob):/.test(url.protocol),
    (route) => {
      found.push(`asked ${route.request().url()}`)
      return route.abort()
    },
  )
  // Without a click, the page must not fetch external media, not even through the server.
  page.on("request", (request) => {
    const { origin, pathname } = new URL(request.url())
    if (origin !== new URL(setup.cuecard.url).origin) return
    const isFar =
      pathname === "/media/remote" || (pathname.endsWith("/media/sign") && /https?:/.test(request.postData() ?? ""))
    if (isFar) found.push(`asked through ${pathname}`)
  })
  return { page, found }
}

/** Checks whether the page's policy allows inline scripts. */
async function runsInline(page: Page): Promise<boolean> {
  return await page.evaluate(() => {
    const script = document.createElement("script")
    try {
      script.textContent = "document.documentElement.dataset.inline = 'ran'"
      document.head.append(script)
    } catch {}
    script.remove()
    const didRun = document.documentElement.dataset["inline"] === "ran"
    delete document.documentElement.dataset["inline"]
    // The violation event is dispatched asynchronously.
    return new Promise<boolean>((done) => setTimeout(() => done(didRun), 50))
  })
}

/** Returns the elements, attributes and URLs in the transcript that are not on the list of expected ones. */
function findUnexpectedNodes(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const prose =
      "p h3 h4 h5 h6 ul ol li blockquote pre code table thead tbody tr th td strong em del b i u s kbd mark sub sup br hr a"
    const ours = "div span figure figcaption button small section header img iframe input svg path"
    const elements = new Set(`${prose} ${ours}`.split(" "))
    const attributes: Record<string, RegExp> = {
      class: /^[\w -]*$/,
      href: /^(?:https?:\/\/|mailto:|tel:)/,
      target: /^_blank$/,
      rel: /^noopener noreferrer$/,
      type: /^(?:button|checkbox)$/,
      start: /^\d+$/,
      align: /^(?:left|right|center)$/,
      tabindex: /^(?:0|-1)$/,
      dir: /^(?:auto|ltr|rtl)$/,
      style: /^(?:text-align: (?:left|right|center);|height: \d+px;)$/,
      sandbox: /^allow-scripts$/,
      // Our own URLs, except `/media/remote`, which needs a click.
      src: /^\/(?:media\/(?!remote\b)|canvas\/documents\/)/,
    }
    const free =
      /^(?:data-[\w-]+|aria-[\w-]+|disabled|checked|alt|title|loading|decoding|referrerpolicy|viewBox|d|fill|role|inert|hidden|width|height|stroke[\w-]*)$/
    const found: string[] = []
    const root = document.querySelector("cuecard-chat")?.shadowRoot ?? document
    for (const body of root.querySelectorAll("[data-transcript] article[data-role=assistant] [data-segment]")) {
      for (const element of body.querySelectorAll("*")) {
        // reading.test.ts checks formulas.
        if (element.closest(".math math") !== null) continue
        if (!elements.has(element.localName)) found.push(`<${element.localName}>`)
        const inProse =
          element.closest(".prose") !== null &&
          element.closest(
            ".gate, .frame, figure, .canvas, .table-tools, .alert-title, .footnotes, .footnote-ref, .math",
          ) === null
        for (const { name, value } of element.attributes) {
          const rule = attributes[name]
          const isGood = rule === undefined ? free.test(name) && !inProse : rule.test(value)
          const isMark = inProse && (name === "disabled" || name === "checked")
          if (!isGood && !isMark) found.push(`<${element.localName} ${name}=${JSON.stringify(value)}>`)
        }
      }
    }
    return [...new Set(found)]
  })
}

/** Waits until the given number of answers have ended. Animations do not matter here. */
async function untilEnded(page: Page, answers: number): Promise<void> {
  await page.waitForFunction(
    (count) => {
      const root = document.querySelector("cuecard-chat")?.shadowRoot ?? document
      const all = [...root.querySelectorAll("[data-transcript] article[data-role=assistant]")]
      return all.length === count && all.every((element) => element.getAttribute("data-status") === "completed")
    },
    answers,
    { timeout: 60_000 },
  )
  // Gives images time to load and handlers time to run.
  await page.waitForTimeout(150)
}

/** Returns the mark at the end of each answer. */
async function endsOf(page: Page): Promise<string[]> {
  const all = await page.locator("[data-transcript] article[data-role=assistant]").allTextContents()
  // A quote before the mark may contain a mark, too.
  return all.map((text) => text.match(/END \w+ \d+/g)?.at(-1) ?? "none")
}

async function sendTexts(session: string, texts: readonly string[]): Promise<void> {
  const headers = { authorization: `Bearer ${setup.cuecard.token}`, "content-type": "application/json" }
  const path = `${setup.cuecard.url}/v1/sessions/${session}/messages`
  for (const text of texts) {
    const body = JSON.stringify({ content: `/say ${JSON.stringify(text)}` })
    for (;;) {
      const answer = await fetch(path, { method: "POST", headers, body })
      await answer.body?.cancel()
      if (answer.status === 202) break
      // The queue is full.
      expect(answer.status).toBe(429)
      await new Promise((done) => setTimeout(done, 50))
    }
  }
}

const endOf = (text: string): string => /END \w+ \d+$/.exec(text)?.[0] ?? ""
const sessions = Array.from({ length: Math.ceil(HOSTILE.length / PER_SESSION) }, (_, n) =>
  HOSTILE.slice(n * PER_SESSION, (n + 1) * PER_SESSION).map(({ text }) => text),
)

test("[PG50] there are at least 300 hostile texts and no duplicates", () => {
  expect(new Set(HOSTILE.map(({ text }) => text)).size).toBe(HOSTILE.length)
  expect(HOSTILE.length).toBeGreaterThanOrEqual(300)
})

describe("hostile text from the model", () => {
  test.each(
    everyNth(
      sessions.map((texts, n) => [n + 1, texts] as const),
      8,
      2,
    ),
  )(
    "[PG50] [SR10] [WG5] session %i: runs nothing, requests nothing and draws no unexpected element, live, after a reload, in a shared copy and in the widget, with and without the policy",
    async (_n, texts) => {
      const { id } = await setup.cuecard.createSession()
      const contexts = [await setup.browser.newContext(), await setup.browser.newContext({ bypassCSP: true })]
      const pages = await Promise.all(contexts.map((context, n) => openWatched(context, `#/s/${id}`, n === 0)))
      await sendTexts(id, texts)
      await Promise.all(pages.map((watched) => expectHarmless(watched, texts, "live")))
      await Promise.all(pages.map(({ page }) => page.reload()))
      await Promise.all(pages.map((watched) => expectHarmless(watched, texts, "after a reload")))
      await Promise.all(pages.map(({ page }) => page.close()))
      const copy = await shareByLink(id)
      const readers = await Promise.all(contexts.map((context, n) => openWatched(context, copy, n === 0)))
      await Promise.all(readers.map((watched) => expectHarmless(watched, texts, "in a shared copy")))
      await expectHarmless(await openWidget(contexts[0] as BrowserContext, id), texts, "in the widget")
      await Promise.all(contexts.map((context) => context.close()))
    },
  )
})

/** Shares a session by link, and returns the path of the shared copy's page. */
async function shareByLink(session: string): Promise<string> {
  const { url, token } = setup.cuecard
  const headers = { authorization: `Bearer ${token}` }
  const made = await fetch(`${url}/v1/sessions/${session}/shares`, { method: "POST", headers })
  expect(made.status).toBe(201)
  return new URL(((await made.json()) as { url: string }).url).pathname.slice(1)
}

async function expectHarmless({ page, found }: Watched, texts: readonly string[], when: string): Promise<void> {
  await untilEnded(page, texts.length)
  // Long texts are rendered in slices.
  await expect.poll(() => endsOf(page), { message: when, timeout: 30_000 }).toEqual(texts.map(endOf))
  expect(await findUnexpectedNodes(page), when).toEqual([])
  expect(found, when).toEqual([])
}

/** Opens a page whose history contains the texts unsanitised. */
async function showRaw(texts: readonly string[]): Promise<Watched & { readonly context: BrowserContext }> {
  const { id } = await setup.cuecard.createSession()
  const context = await setup.browser.newContext({ bypassCSP: true })
  const blank = { mode: null, metrics: null, timestamp: "2026-01-01T00:00:00.000Z" }
  await context.route(/\/conversation\/recent/, async (route) => {
    const whole = await (await route.fetch()).json()
    const messages = texts.map((text, n) => ({
      ...blank,
      id: `a${n}`,
      role: "assistant",
      exchange_id: `x${n}`,
      seq: n + 1,
      content: "",
      status: "completed",
      segments: [{ type: "text", content: text }],
    }))
    await route.fulfill({ json: { ...whole, messages, has_more: false } })
  })
  const watched = await openWatched(context, `#/s/${id}`, false)
  await untilEnded(watched.page, texts.length)
  return { ...watched, context }
}

describe("hostile text that wasn't sanitised", () => {
  test("[PG51] without sanitising and without the policy, it runs nothing, requests nothing and draws no unexpected element", async () => {
    const { page, found, context } = await showRaw(HOSTILE.map(({ text }) => text))
    expect(await findUnexpectedNodes(page)).toEqual([])
    // Triggers pointer and focus events.
    await page.$$eval("[data-transcript] .prose :is(b, i, p, li, td, h3, code)", (all) => {
      for (const element of all) for (const name of ["mouseover", "focus"]) element.dispatchEvent(new Event(name))
    })
    expect(found).toEqual([])
    await context.close()
  })

  test("[PG51] code blocks and inline code show their text exactly", async () => {
    const texts = CODE.flatMap((code) => [`\`\`\`html\n${code}\n\`\`\``, `\`${code}\``])
    const { page, found, context } = await showRaw(texts)
    const shown = await page.$$eval("[data-transcript] article[data-role=assistant]", (all) =>
      all.map((element) => element.querySelector("code")?.textContent ?? null),
    )
    expect(shown).toEqual(CODE.flatMap((code) => [code, code]))
    expect(await findUnexpectedNodes(page)).toEqual([])
    expect(found).toEqual([])
    await context.close()
  })
})
