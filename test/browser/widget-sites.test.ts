/** widget-sites.test.ts: on hostile sites, the widget looks the same as on a neutral site. */

import { writeFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { createHostileSites, type HostileSite } from "./hostile-sites.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { allowSites, openSite, type Site, startSite, widgetTags } from "./widget-pages.ts"

/** The largest fraction of pixels that may differ. */
const MAX_DIFFERENT_SHARE = 0.001
const SIZE = { width: 560, height: 520 }

const setup = useServerAndBrowser()
let site: Site
let viewer: Page
let attributes = ""

beforeAll(async () => {
  site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
  attributes = `language="en" theme="light" session="${await makeConversation()}"`
  viewer = (await openSite(setup.browser, site.serve("<!doctype html><title>Viewer</title>"))).page
})
afterAll(async () => await site?.close())

/** Asks a question, so that the widget shows thinking, a tool call, a card and prose. */
async function makeConversation(): Promise<string> {
  const { page } = await openSite(setup.browser, site.serve(createDocument({ name: "" }, "")))
  const field = page.locator("cuecard-chat .composer textarea")
  await field.fill("What's the weather in London?")
  const session = page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        document.addEventListener("cuecard-message", (event) => resolve((event as CustomEvent).detail.session))
      }),
  )
  await field.press("Enter")
  const id = await session
  await page.context().close()
  return id
}

/** Creates a site's document. It sets the element's size with a rule that overrides the site's hostile rules. */
function createDocument({ head = "", around = ["", ""], html = "", zoom = 1 }: HostileSite, tags: string): string {
  const size = `cuecard-chat { width: ${SIZE.width}px !important; height: ${SIZE.height}px !important }`
  void zoom
  return `<!doctype html><html lang="en" ${html}><head><meta charset="utf-8"><title>Site</title>${head}
<style nonce="site">html cuecard-chat:not(#x) { ${size.replace(/^[^{]*\{|\}$/g, "")} }</style></head>
<body>${around[0]}${widgetTags(setup.cuecard, tags)}${around[1]}</body></html>`
}

async function takePicture(host: HostileSite): Promise<{ readonly png: Buffer; readonly errors: readonly string[] }> {
  const address = site.serve(createDocument(host, attributes), host.headers)
  const { page, errors } = await openSite(setup.browser, address)
  await page.locator("cuecard-chat article .card").waitFor()
  await page.locator("cuecard-chat .composer textarea").waitFor()
  await page.waitForLoadState("networkidle")
  await page.evaluate(async () => {
    const root = document.getElementsByTagName("cuecard-chat")[0]?.shadowRoot
    const view = root?.querySelector(".view")
    // Some sites replace built-in methods, so this function calls few of them.
    const hasLastStyles = (): boolean => {
      for (const { cssRules } of root?.adoptedStyleSheets ?? [])
        for (const rule of cssRules) if (rule instanceof CSSStyleRule && rule.selectorText === ".lightbox") return true
      return false
    }
    while (!hasLastStyles()) await new Promise((resolve) => setTimeout(resolve, 50))
    // Once the end is in view and stays there, the last page of history has arrived.
    for (let same = 0, last = -1; same < 10; ) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      const now = (view?.scrollTop ?? 0) + (view?.scrollHeight ?? 0) * 1e5
      same = now === last ? same + 1 : 0
      last = now
    }
  })
  const png = await page.locator("cuecard-chat").screenshot({ animations: "disabled", caret: "hide" })
  await page.context().close()
  return { png, errors }
}

/** Returns the fraction of pixels that differ visibly; 1 if the sizes differ. */
async function compare(first: Buffer, second: Buffer): Promise<number> {
  const urls = [first, second].map((png) => `data:image/png;base64,${png.toString("base64")}`)
  return await viewer.evaluate(async (sources) => {
    const [a, b] = await Promise.all(
      sources.map(async (source) => {
        const image = new Image()
        image.src = source
        await image.decode()
        const { naturalWidth: width, naturalHeight: height } = image
        const context = new OffscreenCanvas(width, height).getContext("2d")
        context?.drawImage(image, 0, 0)
        return { width, height, data: context?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray() }
      }),
    )
    if (a === undefined || b === undefined || a.width !== b.width || a.height !== b.height) return 1
    let different = 0
    for (let at = 0; at < a.data.length; at += 4) {
      const distance = [0, 1, 2].reduce((sum, c) => sum + Math.abs((a.data[at + c] ?? 0) - (b.data[at + c] ?? 0)), 0)
      if (distance > 12) different += 1
    }
    return (different * 4) / a.data.length
  }, urls)
}

const neutral = new Map<number, Promise<{ readonly png: Buffer }>>()

/** Takes a screenshot of a neutral site that enlarges only the element, so that the scale is the same. */
function neutralPicture(zoom: number): Promise<{ readonly png: Buffer }> {
  const known = neutral.get(zoom)
  if (known !== undefined) return known
  const made = takePicture(zoom === 1 ? { name: "" } : { name: "", around: [`<div style="zoom: ${zoom}">`, "</div>"] })
  neutral.set(zoom, made)
  return made
}

const SITES = createHostileSites("http://127.0.0.1")

test.each(
  everyNth(
    SITES.map(({ name }) => name),
    5,
    2,
  ),
)("[WG7] %s", async (name) => {
  const host = createHostileSites(setup.cuecard.url).find((hostileSite) => hostileSite.name === name)
  if (host === undefined) throw new Error(name)
  const { png, errors } = await takePicture(host)
  const expected = await neutralPicture(host.zoom ?? 1)
  const folder = process.env["SHOTS"]
  if (folder !== undefined) {
    writeFileSync(`${folder}/site-${name.replace(/\W+/g, "-")}.png`, png)
    writeFileSync(`${folder}/site-neutral-${host.zoom ?? 1}.png`, expected.png)
  }
  expect(await compare(png, expected.png)).toBeLessThanOrEqual(MAX_DIFFERENT_SHARE)
  expect(errors).toEqual([])
})

test("[WG7] there are at least 20 hostile sites", () => {
  expect(SITES.length).toBeGreaterThanOrEqual(20)
})
