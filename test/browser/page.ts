/**
 * page.ts: what the browser tests do with the page: open it, ask, wait, and read its transcript in a normal form.
 */

import type { Cuecard } from "cuecard/testing"
import type { Browser, Page } from "playwright-core"

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
  await page.goto(`${cuecard.url}/${view.at ?? ""}`)
  await page.waitForSelector("textarea")
  return { page, errors, strangers }
}

export async function ask(page: Page, question: string): Promise<void> {
  await page.fill("textarea", question)
  await page.press("textarea", "Enter")
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
      const attributes = [...node.attributes].map(({ name, value }) => `${name}=${JSON.stringify(value)}`).sort()
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
