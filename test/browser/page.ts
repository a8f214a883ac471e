/**
 * page.ts: what the browser tests do with the page: open it, ask, wait, and read its transcript in a normal form.
 */

import type { Cuecard } from "cuecard/testing"
import type { Browser, BrowserContext, Page } from "playwright-core"

export const DESK = { width: 1280, height: 1010 }
export const PHONE = { width: 390, height: 844 }

export interface Opened {
  readonly page: Page
  /** What the page said on its console as an error, and what it threw. */
  readonly errors: string[]
  /** Every address that it asked for outside the server. */
  readonly strangers: string[]
}

export interface View {
  readonly size?: { readonly width: number; readonly height: number }
  readonly theme?: "light" | "dark"
  /** Path and hash to open; a session is `#/s/<id>`. */
  readonly at?: string
}

export async function open(browser: Browser, cuecard: Cuecard, view: View = {}): Promise<Opened> {
  const context = await browser.newContext({
    viewport: view.size ?? DESK,
    colorScheme: view.theme ?? "light",
    reducedMotion: "no-preference",
  })
  return openIn(context, cuecard, view.at)
}

/** One more tab of a browser that is open: it shares the storage with its neighbours. */
export async function openIn(context: BrowserContext, cuecard: Cuecard, at = ""): Promise<Opened> {
  const page = await context.newPage()
  const errors: string[] = []
  const strangers: string[] = []
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
      strangers.push(url)
  })
  await page.goto(`${cuecard.url}/${at}`)
  await page.waitForSelector("textarea")
  return { page, errors, strangers }
}

export async function ask(page: Page, question: string): Promise<void> {
  await page.fill(FIELD, question)
  await page.press(FIELD, "Enter")
}

/** The composer's field: an editor has one too. */
export const FIELD = ".composer textarea"

export interface Net {
  /** Swallows all that its open sockets say and hear, without closing them, and takes the page off the net. */
  cut(): Promise<void>
  /** The net is back; the old sockets stay as dead as they are. */
  mend(): Promise<void>
}

/** Stands between a browser and the server. Before its pages are opened. */
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

/** Waits until so many answers stand there and none of them runs. */
export async function settled(page: Page, answers = 1): Promise<void> {
  await page.waitForFunction(
    (count) => {
      const articles = [...document.querySelectorAll("[data-transcript] article[data-role=assistant]")]
      const ended = ["completed", "failed", "interrupted", "cancelled"]
      return articles.length >= count && articles.every((one) => ended.includes(one.getAttribute("data-status") ?? ""))
    },
    answers,
    { timeout: 30_000 },
  )
  // Entrances take 400 ms at most.
  await page.waitForTimeout(700)
}

/** The transcript's elements, attributes and text; what the browser itself adds is left out. */
export function transcriptOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const lines: string[] = []
    const walk = (node: Node, depth: number): void => {
      if (node.nodeType === Node.TEXT_NODE) {
        const text = node.textContent ?? ""
        if (text !== "") lines.push(" ".repeat(depth) + JSON.stringify(text))
        return
      }
      if (!(node instanceof Element)) return
      // A signature is made for each page anew.
      const told = (value: string): string => JSON.stringify(value.replace(/\?token=[^"]*$/, "?token"))
      const attributes = [...node.attributes].map(({ name, value }) => `${name}=${told(value)}`).sort()
      lines.push(`${" ".repeat(depth)}<${[node.localName, ...attributes].join(" ")}>`)
      for (const child of node.childNodes) walk(child, depth + 1)
    }
    const transcript = document.querySelector("[data-transcript]")
    if (transcript === null) throw new Error("no transcript")
    // Text that stands in pieces side by side is one text.
    transcript.normalize()
    for (const article of transcript.querySelectorAll("article")) walk(article, 0)
    return lines.join("\n")
  })
}

export function sessionIn(page: Page): string {
  return /#\/s\/([\w-]+)/.exec(page.url())?.[1] ?? ""
}
