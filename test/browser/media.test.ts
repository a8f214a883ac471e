/** media.test.ts: media, documents, attachments and replies in a real Chromium on the built page. */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import {
  createMessages,
  dropFiles,
  FAR,
  holdUploads,
  isShown,
  openWithMessages,
  PLAN,
  REFUSED,
  SOON,
} from "./media-pages.ts"
import { FIELD, openIn } from "./page.ts"
import { canvas, media, createWireMessage, text } from "./samples.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "3" } }, { withFiles: true })

const topOf = (page: Page, content: string) =>
  page.locator(`[data-segment=text] >> text=${content}`).evaluate((element) => element.getBoundingClientRect().top)

describe("images", () => {
  test("[PG38] [PG39] [PG57] a stored image loads without a click, causes no layout shift, and opens; Escape returns to it", async () => {
    const messages = createMessages(
      text("Before"),
      media("image", "/media/landscape", "The bay"),
      text("Between"),
      media("image", "/media/chart", "Visitors"),
    )
    const { page, context, errors, signRequests } = await openWithMessages(setup, messages)
    await page.waitForSelector(".frame")
    const before = await topOf(page, "Between")
    await isShown(page, ".frame[data-url='/media/chart'] img")
    expect(await topOf(page, "Between")).toBe(before)
    expect(signRequests).toEqual([["/media/landscape", "/media/chart"]])
    await page.click(".frame >> nth=0")
    expect(await page.textContent(".lightbox header p")).toBe("The bay 1 of 2")
    await page.keyboard.press("ArrowRight")
    expect(await page.textContent(".lightbox header p")).toBe("Visitors 2 of 2")
    await page.keyboard.press("Escape")
    await page.waitForSelector(".lightbox", { state: "detached" })
    expect(await page.evaluate(() => document.activeElement?.getAttribute("data-url"))).toBe("/media/landscape")
    // A click next to the image closes the viewer, too.
    await page.click(".frame >> nth=0")
    await page.mouse.click(20, 500)
    await page.waitForSelector(".lightbox", { state: "detached" })
    expect(errors).toEqual([])
    await context.close()
  })

  test("[PG40] [PG63] an external image waits for a click and loads through the server; a refused image shows the reason", async () => {
    const messages = createMessages(
      text(`Far: ![the harbour](${FAR}) and ![no](https://example.net/none.png)`),
      media("image", FAR, "harbour.png"),
    )
    const { page, context, externalUrls, fetched } = await openWithMessages(setup, messages)
    await page.waitForSelector(".gate")
    expect(await page.$$(".frame")).toEqual([])
    expect(fetched).toEqual([])
    await page.click("[aria-label^='Load'] >> nth=0")
    await isShown(page)
    await page.waitForFunction(() => document.querySelectorAll(".frame img").length === 2)
    await page.click("[aria-label^='Load']")
    await expect
      .poll(() => page.textContent(".gate[data-state=failed] small"), SOON)
      .toBe("The other server does not give it.")
    expect(await page.getAttribute(".gate a", "href")).toBe("https://example.net/none.png")
    expect(externalUrls).toEqual([])
    await context.close()
  })

  test("[PG40] an image from a host that the tenant allows loads without a click", async () => {
    const settings = { media_hosts: ["pictures.example.com"], embed_origins: [] }
    const { page, context, fetched, externalUrls } = await openWithMessages(
      setup,
      createMessages(media("image", FAR, "harbour.png")),
      {
        settings,
      },
    )
    await isShown(page)
    expect(fetched).toEqual([FAR])
    expect(externalUrls).toEqual([])
    await context.close()
  })
})

describe("audio and video", () => {
  test("[PG39] [PG58] a player works by mouse and keyboard; only one player plays at a time; Escape stops it but not the answer", async () => {
    const messages = [
      createWireMessage("user", [text("Play")]),
      createWireMessage(
        "assistant",
        [
          media("audio", "/media/tone", "tone.wav"),
          media("audio", "/media/note", "note", { voice: true, size: 80_044 }),
        ],
        { status: "running" },
      ),
    ]
    const { page, context, wire, errors } = await openWithMessages(setup, messages)
    await expect.poll(() => page.textContent(".time >> nth=1"), SOON).toBe("0:05")
    // The waveform appears after decoding.
    await expect.poll(() => page.getAttribute(".wave path", "d"), SOON).toMatch(/^M2 [\d.]+V/)
    const playing = () => page.$$eval("audio", (all) => all.map((sound) => !sound.paused))
    await page.click("[aria-label=Play] >> nth=0")
    await expect.poll(playing, SOON).toEqual([true, false])
    await page.waitForSelector("[aria-label=Pause]")
    await page.click("[aria-label=Play]")
    await expect.poll(playing, SOON).toEqual([false, true])
    await page.keyboard.press("Escape")
    await expect.poll(playing, SOON).toEqual([false, false])
    expect(wire.received.filter(({ type }) => type === "cancel")).toEqual([])
    await page.focus("input[type=range] >> nth=0")
    await page.keyboard.press("ArrowRight")
    expect(await page.$eval("audio", (sound) => sound.currentTime)).toBeGreaterThan(2)
    await page.keyboard.press("Escape")
    await expect.poll(() => wire.received.filter(({ type }) => type === "cancel").length, SOON).toBe(1)
    expect(errors).toEqual([])
    await context.close()
  })

  test("[PG39] [PG60] a video shows its first frame and doesn't start playing", async () => {
    const { page, context, errors } = await openWithMessages(
      setup,
      createMessages(media("video", "/media/film", "film.webm")),
    )
    await expect
      .poll(() => page.$eval("video", (film) => [film.readyState > 0, film.paused]), SOON)
      .toEqual([true, true])
    expect(await page.getAttribute("video", "autoplay")).toBe(null)
    expect(errors).toEqual([])
    await context.close()
  })

  test("[PG39] [PG60] a click downloads a file under its name", async () => {
    const { page, context, signRequests } = await openWithMessages(
      setup,
      createMessages(media("file", "/media/table", "visitors.csv", { size: 24, mime_type: "text/csv" })),
    )
    await page.waitForSelector("button.file")
    expect(signRequests).toEqual([])
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("button.file")])
    expect(download.suggestedFilename()).toBe("visitors.csv")
    await context.close()
  })
})

describe("documents", () => {
  test("[PG41] [PG65] a document loads only once while text streams in beside it, and receives the theme", async () => {
    const answer = createWireMessage("assistant", [canvas(PLAN, "Plan of the visit", 200), text("So")], {
      status: "running",
    })
    const { page, context, wire, fetched, errors } = await openWithMessages(
      setup,
      [createWireMessage("user", [text("Plan it")]), answer],
      {
        theme: "dark",
      },
    )
    const frame = page.frameLocator("iframe")
    await expect.poll(() => frame.locator("body").getAttribute("class"), SOON).toBe("dark")
    for (const [at, content] of [" it", " goes", " on"].entries()) {
      const offset = "So it goes on".indexOf(content)
      wire.later({ type: "ops", message: answer.id, ops: [{ op: "text", at: 1, offset, text: content }] })
      await page.waitForTimeout(30 + at)
    }
    await expect.poll(() => page.textContent("[data-role=assistant] [data-segment=text]"), SOON).toBe("So it goes on")
    expect(fetched.filter((url) => url === PLAN)).toHaveLength(1)
    expect(await page.getAttribute("iframe", "sandbox")).toBe("allow-scripts")
    expect(errors).toEqual([])
    await context.close()
  })
})

describe("replies", () => {
  test("[PG43] [PG73] a quote scrolls to its message, even far up; Reply sends the id of the message", async () => {
    const first = createWireMessage("user", [text("The very first words")])
    const filling = Array.from({ length: 12 }, (_, at) =>
      createWireMessage("assistant", [text(`Answer ${at}\n\n${"words ".repeat(120)}`)]),
    )
    const last = createWireMessage("assistant", [text("As you said at first.")], { reply_to: first.id })
    const { page, context, wire } = await openWithMessages(setup, [first, ...filling, last])
    await page.waitForSelector(".quote")
    expect(await page.textContent(".quote")).toBe("YouThe very first words")
    await page.click(".quote")
    await page.waitForSelector(`article[data-id=${first.id}][data-marked]`)
    expect(await page.isVisible(`article[data-id=${first.id}] p`)).toBe(true)
    const { y } = (await page.locator(`article[data-id=${first.id}]`).boundingBox()) ?? { y: -1 }
    expect(y).toBeGreaterThanOrEqual(0)
    await page.hover(`article[data-id=${first.id}]`)
    await page.click(`article[data-id=${first.id}] [data-focus-key=reply]`)
    expect(await page.textContent(".quoted .what")).toBe("Reply to You The very first words")
    await page.fill(FIELD, "why?")
    await page.press(FIELD, "Enter")
    await expect
      .poll(() => wire.received.find(({ type }) => type === "send"), SOON)
      .toMatchObject({ reply_to: first.id })
    expect(await page.$(".quoted")).toBe(null)
    await context.close()
  })
})

describe("attachments", () => {
  test("[PG42] [PG67] [PG70] dropped files show their progress or refusal and can be removed; the message waits for the files and contains their ids", async () => {
    const { page, context, wire } = await openWithMessages(setup, [])
    const resumeUploads = await holdUploads(context)
    // The code that handles dropped files is loaded after the initial render.
    await page.waitForLoadState("networkidle")
    await dropFiles(page, "main", ["chart.png", "no.exe", "notes.txt"])
    await expect
      .poll(() => page.$$eval(".chip", (all) => all.map((element) => element.getAttribute("data-state"))), SOON)
      .toEqual(["sending", "failed", "sending"])
    expect(await page.textContent(".chip [role=alert]")).toBe(REFUSED.text)
    await page.fill(FIELD, "see these")
    expect(await page.isDisabled("button[type=submit]")).toBe(true)
    await page.click("[aria-label='Remove: no.exe']")
    resumeUploads()
    await page.waitForSelector("button[type=submit]:not([disabled])")
    await page.press(FIELD, "Enter")
    await expect
      .poll(() => wire.received.find(({ type }) => type === "send"), SOON)
      .toMatchObject({ content: "see these", attachments: ["chart", "notes"] })
    expect(
      await page.$$eval("article[data-status=sending] [data-segment=media]", (all) =>
        all.map((element) => element.getAttribute("data-kind")),
      ),
    ).toEqual(["image", "file"])
    await context.close()
  })

  test("[PG42] [PG35] a file dropped on the list is imported, not attached", async () => {
    const { page, context } = await openWithMessages(setup, [])
    // The import button is loaded after the initial render.
    await page.waitForSelector(".sidebar button.import")
    await dropFiles(page, ".sidebar", ["old.jsonl"])
    await page.waitForSelector("dialog.box")
    expect(await page.$(".chip")).toBe(null)
    await context.close()
  })

  test.each([
    ["conversation", "main", "attachment-chips", ".chip"],
    ["list", ".sidebar", "session-actions", "dialog.box"],
  ])(
    "[PG87] a file that is dropped on the %s before the necessary code has loaded waits for that code",
    async (_, over, chunk, shown) => {
      const context = await setup.browser.newContext()
      let release = (): void => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      await context.route(`**/assets/${chunk}-*.js`, async (route) => {
        await released
        await route.continue()
      })
      const { page } = await openIn(context, setup.cuecard)
      const isHeld = await page.evaluate((selector) => {
        const data = new DataTransfer()
        data.items.add(new File(["early"], "early.txt", { type: "text/plain" }))
        const init = { dataTransfer: data, bubbles: true, cancelable: true }
        const target = document.querySelector(selector)
        return ["dragover", "drop"].map((type) => target?.dispatchEvent(new DragEvent(type, init)) === false)
      }, over)
      expect(isHeld).toEqual([true, true])
      expect(await page.locator(shown).count()).toBe(0)
      release()
      // The result replaces the name as soon as the file has been read.
      await expect
        .poll(() => page.locator(shown).first().textContent(), { timeout: 20_000 })
        .toMatch(/early\.txt|couldn't find any messages in this file/)
      await context.close()
    },
  )

  test("[PG42] the file picker accepts several files, and the same file twice", async () => {
    const { page, context } = await openWithMessages(setup, [])
    const resumeUploads = await holdUploads(context)
    resumeUploads()
    await page.waitForSelector(".attach")
    const file = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("words") }
    await page.setInputFiles(".composer input[type=file]", [file, { ...file, name: "more.txt" }])
    await page.setInputFiles(".composer input[type=file]", [file])
    await expect
      .poll(() => page.$$eval(".chip[data-state=done] b", (all) => all.map((element) => element.textContent)), SOON)
      .toEqual(["notes.txt", "more.txt", "notes.txt"])
    await context.close()
  })
})
