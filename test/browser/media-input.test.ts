/**
 * media-input.test.ts: using media by keyboard and touch, copying and printing, on a real server in a real Chromium.
 */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { askQuestion, FIELD, openPage, openIn, PHONE, sessionIn, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

/** A timeout that is longer than any loopback request takes, in milliseconds. */
const SOON = { timeout: 20_000 }

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } }, { withFiles: true })

const bytesOf = (url: string): Buffer => setup.files.get(url)?.body ?? Buffer.alloc(0)
const readFocus = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "")
const chooseFiles = (page: Page, ...all: readonly (readonly [name: string, buffer: Buffer])[]) =>
  page.setInputFiles(
    ".composer input[type=file]",
    all.map(([name, buffer]) => ({ name, buffer, mimeType: name.endsWith(".png") ? "image/png" : "text/plain" })),
  )
const readChips = (page: Page) =>
  page.$$eval(".chip", (all) => all.map((element) => element.getAttribute("data-state")))
const expectImages = (page: Page, count: number) =>
  page.waitForFunction((of) => {
    const images = [...document.querySelectorAll<HTMLImageElement>("article .frame img")]
    return images.length === of && images.every((image) => image.complete && image.naturalWidth > 0)
  }, count)

/** Sends a message with two images. */
async function sendTwoImages(page: Page): Promise<void> {
  await chooseFiles(page, ["bay.png", bytesOf("/media/landscape")], ["hills.png", bytesOf("/media/portrait")])
  await expect.poll(() => readChips(page), SOON).toEqual(["done", "done"])
  await page.fill(FIELD, "/say Both are there.")
  await page.click("button[type=submit]")
  await untilSettled(page)
  await expectImages(page, 2)
}

/** Runs in the page: creates an image of this type and size, as base64. */
async function untilDrawn([type, width, height]: readonly [string, number, number]): Promise<string> {
  const pen = new OffscreenCanvas(width, height).getContext("2d") as OffscreenCanvasRenderingContext2D
  pen.fillStyle = "#8b7cf6"
  pen.fillRect(0, 0, width, height)
  const bytes = new Uint8Array(await (await pen.canvas.convertToBlob({ type })).arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
}

/**
 * The Exif data of a photo that was taken with a rotated camera, to be inserted after the first two bytes of a JPEG.
 */
const SIDEWAYS = Buffer.from("ffe100224578696600004d4d002a000000080001011200030000000100060000ffff0000", "hex")

describe("an image in a message", () => {
  test("[AS2] [AS15] [PG39] has a box of its final size and aspect ratio before it loads", async () => {
    const { page, errors } = await openPage(setup.browser, setup.cuecard)
    const file = async (type: string, width: number, height: number) =>
      Buffer.from(await page.evaluate(untilDrawn, [type, width, height] as const), "base64")
    const photo = await file("image/jpeg", 300, 200)
    const held = Buffer.concat([photo.subarray(0, 2), SIDEWAYS, photo.subarray(2)])
    const all = [
      ["icon.png", await file("image/png", 64, 64)],
      ["wide.webp", await file("image/webp", 1600, 200)],
      ["held.jpg", held],
      ["tall.png", await file("image/png", 100, 1000)],
    ] as const
    for (const [at, one] of all.entries()) {
      await chooseFiles(page, one)
      await expect.poll(() => readChips(page), SOON).toEqual(["done"])
      // The test holds the image back until its box has been measured.
      const held = Promise.withResolvers<void>()
      await page.route(/\/media\/[^/]+\?token=/, async (route) => {
        await held.promise
        await route.continue()
      })
      await page.click("button[type=submit]")
      await untilSettled(page, at + 1)
      // The code that draws the box is loaded for the first image.
      await page.locator(".frame").nth(at).waitFor()
      const box = () => page.locator(".frame").last().boundingBox()
      const before = await box()
      held.resolve()
      await expectImages(page, at + 1)
      expect(await box()).toEqual(before)
      const image = page.locator(".frame img").last()
      const [width, height] = await image.evaluate((it: HTMLImageElement) => [it.naturalWidth, it.naturalHeight])
      const ratio = Math.max(0.5, (width ?? 0) / (height ?? 1))
      expect(Math.abs((before?.width ?? 0) / (before?.height ?? 1) - ratio)).toBeLessThan(0.05 * ratio)
      expect(before?.width).toBeLessThanOrEqual((width ?? 0) + 100)
      await page.unroute(/\/media\/[^/]+\?token=/)
    }
    expect(errors).toEqual([])
    await page.context().close()
  })
})

describe("an open image", () => {
  test("[PG39] [PG57] the focus starts on Close, stays inside the dialog, and returns to the image", async () => {
    const { page, errors } = await openPage(setup.browser, setup.cuecard)
    await sendTwoImages(page)
    await page.focus(".frame >> nth=0")
    await page.keyboard.press("Enter")
    await expect.poll(() => readFocus(page), SOON).toBe("Close")
    const seen = new Set<string>()
    for (let presses = 0; presses < 8; presses++) {
      await page.keyboard.press("Tab")
      seen.add(await readFocus(page))
    }
    expect([...seen].sort()).toEqual(["", "Close", "Download", "Next image", "Previous image"])
    await page.keyboard.press("Escape")
    await page.waitForSelector(".lightbox", { state: "detached" })
    expect(await readFocus(page)).toBe("Image: bay")
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[PG39] [PG57] a horizontal swipe shows the next image, and a downward swipe closes the viewer", async () => {
    const context = await setup.browser.newContext({ viewport: PHONE, hasTouch: true, isMobile: true })
    const { page, errors } = await openIn(context, setup.cuecard)
    await sendTwoImages(page)
    const devtools = await context.newCDPSession(page)
    const swipe = async (from: readonly [number, number], to: readonly [number, number]): Promise<void> => {
      const point = ([x, y]: readonly [number, number]) => [{ x, y }]
      await devtools.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: point(from) })
      await devtools.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: point(to) })
      await devtools.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] })
    }
    const title = () => page.textContent(".lightbox header p")
    await page.tap(".frame >> nth=0")
    await expect.poll(title, SOON).toBe("bay 1 of 2")
    await swipe([300, 400], [120, 410])
    await expect.poll(title, SOON).toBe("hills 2 of 2")
    await swipe([100, 400], [280, 390])
    await expect.poll(title, SOON).toBe("bay 1 of 2")
    await swipe([200, 300], [190, 500])
    await page.waitForSelector(".lightbox", { state: "detached" })
    expect(errors).toEqual([])
    await context.close()
  })
})

describe("copying and printing", () => {
  test("[PG44] a copied selection names media, and contains no signed URLs and no collapsed text", async () => {
    const { page, errors } = await openPage(setup.browser, setup.cuecard)
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
    for (const [at, prompt] of ["paint a sunset", "say hello world", "make a clock canvas"].entries()) {
      await askQuestion(page, prompt)
      await untilSettled(page, at + 1)
    }
    await page.waitForSelector("iframe")
    expect(await page.$eval("[data-transcript]", (all) => all.innerHTML.includes("?token="))).toBe(true)
    await page.$eval("[data-transcript]", (all) => getSelection()?.selectAllChildren(all))
    await page.keyboard.press("Control+c")
    const copied = await page.evaluate(async () => {
      const [item] = await navigator.clipboard.read()
      const of = async (type: string) => (await item?.getType(type))?.text() ?? ""
      return { html: await of("text/html"), plain: await of("text/plain") }
    })
    expect(copied.html).not.toMatch(/token|<img|<iframe|<audio|src=/)
    for (const text of [copied.html, copied.plain]) {
      expect(text).toContain("[Image: a sunset]")
      expect(text).toContain("[Voice note: hello world.wav]")
      expect(text).toContain("[Document: Clock]")
      expect(text).toContain("I'll paint a sunset.")
      expect(text).not.toContain("The tool paints")
    }
    expect(copied.plain).toMatch(/^paint a sunset\n\nI'll paint a sunset\.\n\nHere it is:\n\n\[Image/)
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[PG44] a printed page contains the whole conversation and nothing else, dark on light", async () => {
    // With motion enabled, the colours change at once. With reduced motion, they change within a millisecond, which is
    // too late for the check below.
    const { page } = await openPage(setup.browser, setup.cuecard, { theme: "dark", hasMotion: true })
    for (let at = 0; at < 4; at++) {
      await askQuestion(page, `/say ${JSON.stringify(`${"A line of words.\n\n".repeat(20)}Answer ${at}.`)}`)
      await untilSettled(page, at + 1)
    }
    await page.emulateMedia({ media: "print" })
    const paper = await page.evaluate(() => {
      const shown = (selector: string) => document.querySelector(selector)?.checkVisibility() === true
      const last = [...document.querySelectorAll("article")].at(-1)?.getBoundingClientRect()
      return {
        around: [".sidebar", ".foot", ".acts"].map(shown),
        isWhole: last !== undefined && last.bottom <= document.documentElement.scrollHeight && last.bottom > 2000,
        ink: getComputedStyle(document.querySelector("article p") as Element).color,
      }
    })
    expect(paper).toEqual({ around: [false, false, false], isWhole: true, ink: "rgb(23, 23, 31)" })
    // Checks that the printout has as many pages as the conversation needs.
    const sheets = (await page.pdf({ format: "A5" })).toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g) ?? []
    expect(sheets.length).toBeGreaterThan(2)
    await page.context().close()
  })
})

describe("audio", () => {
  test("[PG39] [PG58] a file can be downloaded under its name", async () => {
    const { page, errors } = await openPage(setup.browser, setup.cuecard)
    await askQuestion(page, "say hello world")
    await untilSettled(page)
    const [file] = await Promise.all([page.waitForEvent("download"), page.click(".sound [aria-label=Download]")])
    expect(file.suggestedFilename()).toBe("hello world.wav")
    expect(errors).toEqual([])
    await page.context().close()
  })
})

describe("attachments and replies by keyboard", () => {
  test("[PG42] [PG5] removing or retrying an upload moves the focus to the composer; direction marks in names are not shown", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    let isDown = true
    await page.route("**/assets?name=notes*", (route) => {
      if (!isDown) return route.continue()
      return route.fulfill({ status: 503, json: { code: "asset_store_failed", text: "Not just now." } })
    })
    await chooseFiles(page, ["notes.txt", Buffer.from("words")], ["a\u202egnp.txt", Buffer.from("more")])
    await expect.poll(() => readChips(page), SOON).toEqual(["failed", "done"])
    expect(await page.$$eval(".chip b", (all) => all.map((element) => element.textContent))).toEqual([
      "notes.txt",
      "agnp.txt",
    ])
    isDown = false
    await page.focus("[aria-label='Try again: notes.txt']")
    await page.keyboard.press("Enter")
    await expect.poll(() => readFocus(page), SOON).toBe("Message")
    await expect.poll(() => readChips(page), SOON).toEqual(["done", "done"])
    await page.focus("[aria-label='Remove: notes.txt']")
    await page.keyboard.press("Enter")
    await expect.poll(() => readFocus(page), SOON).toBe("Message")
    expect(await readChips(page)).toEqual(["done"])
    await page.context().close()
  })

  test("[PG42] [PG69] an upload that was cut off is retried when the network is back, and its message appears in every window", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    const context = page.context()
    await askQuestion(page, "/say Hello.")
    await untilSettled(page)
    const other = await openIn(context, setup.cuecard, `#/s/${sessionIn(page)}`)
    // Simulates the browser's error for a broken connection.
    await page.route("**/assets?name=*", (route) => route.abort("internetdisconnected"), { times: 1 })
    await chooseFiles(page, ["bay.png", bytesOf("/media/landscape")])
    await expect.poll(() => readChips(page), SOON).toEqual(["failed"])
    expect(await page.textContent(".chip [role=alert]")).toBe(
      "We couldn't reach the server. Check your connection and try again.",
    )
    // Chromium may report that it is online before requests succeed again, so the test dispatches the event itself.
    await page.evaluate(() => dispatchEvent(new Event("online")))
    await expect.poll(() => readChips(page), SOON).toEqual(["done"])
    await page.click("button[type=submit]")
    await untilSettled(other.page, 2)
    await expectImages(other.page, 1)
    await context.close()
  })

  test("[PG43] [PG73] Escape cancels a reply before it stops anything; a quote of a long message scrolls to its beginning", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    await askQuestion(page, `/say ${JSON.stringify(`First line.${"\n\nA line of words.".repeat(80)}`)}`)
    await untilSettled(page)
    await page.hover("article[data-role=assistant]")
    await page.click("article[data-role=assistant] [data-focus-key=reply]")
    await page.waitForSelector(".quoted")
    await page.keyboard.press("Escape")
    await page.waitForSelector(".quoted", { state: "detached" })
    expect(await readFocus(page)).toBe("Message")
    await page.click("article[data-role=assistant] [data-focus-key=reply]")
    await page.fill(FIELD, "/say As you say.")
    await page.press(FIELD, "Enter")
    await untilSettled(page, 2)
    await page.click(".quote")
    await page.waitForSelector("article[data-marked]")
    await expect.poll(() => page.locator("text=First line.").last().isVisible(), SOON).toBe(true)
    const top = await page.$eval("article[data-marked]", (element) => element.getBoundingClientRect().top)
    expect(top).toBeGreaterThanOrEqual(0)
    expect(top).toBeLessThan(120)
    await page.context().close()
  })
})
