/**
 * page.ts: helpers for the browser tests. They open the page, send messages, wait, and read the transcript in a
 * normalised form.
 */

import type { Cuecard } from "cuecard/testing"
import type { Browser, BrowserContext, Frame, Page } from "playwright-core"
import { expect } from "vitest"
import { MAX_PAGE_MESSAGES } from "../../shared/limits.ts"
import { everyNth } from "../support/seeded.ts"

export const THEMES = ["light", "dark"] as const
export const DESKTOP = { width: 1280, height: 1010 }
export const PHONE = { width: 390, height: 844 }
/** The name, size and theme of two views. A short run uses only the first view. */
export const DESKTOP_AND_PHONE = everyNth(
  [
    ["desktop", DESKTOP, "light"],
    ["phone", PHONE, "dark"],
  ] as const,
  2,
)

export interface Opened {
  readonly page: Page
  /** Console errors and uncaught exceptions. */
  readonly errors: string[]
  /** Every requested URL that isn't on the server. */
  readonly externalUrls: string[]
}

export interface View {
  readonly size?: { readonly width: number; readonly height: number }
  readonly theme?: "light" | "dark"
  /** The path and hash to open; a session is `#/s/<id>`. */
  readonly at?: string
  /** Turns off the content security policy, so that the test can run scripts. */
  readonly bypassCSP?: boolean
  /** Turns on animations, as for a user who hasn't enabled reduced motion. */
  readonly hasMotion?: boolean
}

export async function openPage(browser: Browser, cuecard: Cuecard, view: View = {}): Promise<Opened> {
  const context = await browser.newContext({
    viewport: view.size ?? DESKTOP,
    colorScheme: view.theme ?? "light",
    reducedMotion: view.hasMotion === true ? "no-preference" : "reduce",
    bypassCSP: view.bypassCSP ?? false,
  })
  return openIn(context, cuecard, view.at)
}

/** Opens another tab in a browser context. The tabs of a context share their storage. */
export async function openIn(context: BrowserContext, cuecard: Cuecard, at = ""): Promise<Opened> {
  const page = await context.newPage()
  const errors: string[] = []
  const externalUrls: string[] = []
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text())
  })
  page.on("pageerror", (error) => errors.push(String(error)))
  page.on("dialog", async (dialog) => {
    errors.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on("request", (request) => {
    const url = request.url()
    if (!url.startsWith(cuecard.url) && !url.startsWith("data:") && !url.startsWith("ws://127.0.0.1"))
      externalUrls.push(url)
  })
  await page.goto(`${cuecard.url}/${at}`)
  await page.waitForSelector("textarea")
  return { page, errors, externalUrls }
}

export async function askQuestion(page: Page, question: string): Promise<void> {
  await page.fill(FIELD, question)
  await page.press(FIELD, "Enter")
}

/** The composer's text field. A message editor also has a textarea. */
export const FIELD = ".composer textarea"

export interface Net {
  /** Drops all frames of the open sockets without closing them, and takes the page offline. */
  cut(): Promise<void>
  /** Takes the page online again. The old sockets stay dead. */
  mend(): Promise<void>
}

/** Puts a proxy between a browser context and the server. Must be called before a page is opened. */
export async function netOf(context: BrowserContext): Promise<Net> {
  let generation = 0
  await context.routeWebSocket(/\/socket$/, (page) => {
    const own = generation
    const server = page.connectToServer()
    page.onMessage((text) => {
      if (own === generation) server.send(text)
    })
    server.onMessage((text) => {
      if (own === generation) page.send(text)
    })
  })
  return {
    async cut() {
      generation++
      await context.setOffline(true)
    },
    mend: () => context.setOffline(false),
  }
}

/** Waits until there are at least this many answers, all answers have ended, and nothing moves. */
export async function untilSettled(page: Page, answers = 1): Promise<void> {
  await page.waitForFunction(
    (count) => {
      const articles = [...document.querySelectorAll("[data-transcript] article[data-role=assistant]")]
      const ended = ["completed", "failed", "interrupted", "cancelled"]
      if (document.querySelector(".card.loading") !== null) return false
      return (
        articles.length >= count &&
        articles.every((article) => ended.includes(article.getAttribute("data-status") ?? ""))
      )
    },
    answers,
    { timeout: 30_000 },
  )
  await untilStill(page)
}

/** How long the transcript has to stay unchanged, in milliseconds. */
const STILL_MS = 150

/**
 * The interval at which the page is polled, in milliseconds. Polling in every frame would make the page draw every
 * frame.
 */
const POLL_MS = 30

/**
 * How long to wait for a frame, in milliseconds. A browser that has nothing to draw sometimes skips frames for minutes.
 */
const FRAME_MS = 5_000

/**
 * How long to wait in total, in milliseconds. A test that waited longer would time out without saying what was missing.
 */
const MAX_MS = 60_000

/**
 * Matches what is shown until the code for a card, the buttons or the version switch has loaded. A shared copy has no
 * buttons.
 */
const UNLOADED = [
  ".card.loading",
  "figure.code:not(:has(.code-tools))",
  ".table-frame:not(:has(.table-tools))",
  ".page article[data-role=assistant] > footer.acts:not(:has(> .tools))",
  // The buttons of all messages are in one module. Users who can only read a conversation have no message box.
  ".page:has(.composer) [data-transcript]:not(:has(.acts, textarea)) article[data-role=user][data-status=completed]",
].join()

/** Waits until the transcript has stopped changing and no finite animation is running. */
export async function untilStill(page: Page | Frame): Promise<void> {
  await page.evaluate(
    ([stillMs, pollMs, frameMs, maxMs, unloaded]) =>
      new Promise<void>((done, fail) => {
        const start = performance.now()
        let transcript: Element | null = null
        let since = 0
        const observer = new MutationObserver(() => {
          since = 0
        })
        const observe = (next: Element | null): void => {
          observer.disconnect()
          if (next !== null)
            observer.observe(next, { subtree: true, childList: true, attributes: true, characterData: true })
          transcript = next
          since = 0
        }
        const isMoving = (animation: Animation): boolean =>
          animation.playState === "running" &&
          animation.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY
        waitForFrame(poll)
        function waitForFrame(run: () => void): void {
          let hasRun = false
          const runOnce = (): void => {
            if (!hasRun) run()
            hasRun = true
          }
          requestAnimationFrame(runOnce)
          setTimeout(runOnce, frameMs)
        }
        function poll(): void {
          const now = performance.now()
          const root = document.querySelector("cuecard-chat")?.shadowRoot ?? document.body.shadowRoot ?? document
          const current = root.querySelector("[data-transcript]")
          if (current !== transcript) observe(current)
          // Notes and quotes show only a no-break space until their code has loaded.
          const notes = [...root.querySelectorAll("article .note, .quote-place")]
          const missing =
            root.querySelector(unloaded) ?? notes.find(({ textContent }) => textContent === "\u00a0") ?? null
          if (now - start > maxMs)
            return fail(new Error(`The page was still changing after ${maxMs} ms: ${missing?.outerHTML.slice(0, 500)}`))
          if (since === 0 || missing !== null || document.getAnimations().some(isMoving)) since = now
          if (now - since < stillMs) return void setTimeout(poll, pollMs)
          // Long code and long text are drawn in slices when the page is idle, which a busy machine delays. A slice is
          // rendered one frame later.
          requestIdleCallback(() => waitForFrame(() => waitForFrame(finish)), { timeout: frameMs })
        }
        function finish(): void {
          if (since === 0) return poll()
          observer.disconnect()
          done()
        }
      }),
    [STILL_MS, POLL_MS, FRAME_MS, MAX_MS, UNLOADED] as const,
  )
}

/** Writes a screenshot of an element, and checks that it is as large as the element. */
export async function takeScreenshot(page: Page, selector: string, path: string): Promise<void> {
  await untilStill(page)
  await page.mouse.move(0, 0)
  const element = page.locator(selector)
  const png = await element.screenshot({ path, animations: "disabled" })
  const box = await element.boundingBox()
  // The width and the height are at fixed offsets in a PNG's header. Fractions of pixels are rounded outwards on each
  // side.
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  expect(Math.abs(width - (box?.width ?? 0)), `width of ${path}`).toBeLessThan(2)
  expect(Math.abs(height - (box?.height ?? 0)), `height of ${path}`).toBeLessThan(2)
}

/** Lets a page load a whole session at once, as if the user had scrolled to its beginning. */
export async function loadWholeHistory(context: BrowserContext): Promise<void> {
  await context.route(/\/conversation\/recent/, (route) =>
    route.fallback({
      url: route
        .request()
        .url()
        .replace(/limit=\d+/, `limit=${MAX_PAGE_MESSAGES}`),
    }),
  )
}

/** Returns the elements, attributes and text of the transcript, in a normalised form. */
export function transcriptOf(page: Page | Frame): Promise<string> {
  return page.evaluate(() => {
    const lines: string[] = []
    const generatedIds: string[] = []
    // Signatures differ from page to page, and generated ids are numbered across all conversations that a page has
    // shown.
    const normalize = (value: string): string => {
      if (/^P\d+-\d+$/.test(value) && !generatedIds.includes(value)) generatedIds.push(value)
      const at = generatedIds.indexOf(value)
      // The widget's URLs are absolute, because its document is on another origin.
      const address = value.replace(/^http:\/\/127\.0\.0\.1:\d+(?=\/(?:media|canvas)\/)/, "")
      return JSON.stringify(at === -1 ? address.replace(/\?token=[^"]*$/, "?token") : `generated-${at}`)
    }
    const walk = (node: Node, depth: number): void => {
      if (node.nodeType === Node.TEXT_NODE) {
        const text = node.textContent ?? ""
        if (text !== "") lines.push(" ".repeat(depth) + JSON.stringify(text))
        return
      }
      // These buttons are loaded later, and depend on the user and on the origin of the answer.
      if (!(node instanceof Element) || node.matches(".acts > .tools")) return
      // A time includes the date if the page was drawn on a later day.
      const shown = [...node.attributes].filter(({ name }) => node.localName !== "time" || name !== "data-text")
      const attributes = shown.map(({ name, value }) => `${name}=${normalize(value)}`).sort()
      lines.push(`${" ".repeat(depth)}<${[node.localName, ...attributes].join(" ")}>`)
      for (const child of node.childNodes) walk(child, depth + 1)
    }
    const root = document.querySelector("cuecard-chat")?.shadowRoot ?? document.body.shadowRoot ?? document
    const transcript = root.querySelector("[data-transcript]")
    if (transcript === null) throw new Error("no transcript")
    // Merge adjacent text nodes.
    transcript.normalize()
    for (const article of transcript.querySelectorAll("article")) walk(article, 0)
    return lines.join("\n")
  })
}

export function sessionIn(page: Page): string {
  return /#\/s\/([\w-]+)/.exec(page.url())?.[1] ?? ""
}
