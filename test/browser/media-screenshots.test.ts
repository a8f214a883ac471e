/**
 * media-screenshots.test.ts: takes screenshots of each kind of media segment for the documentation, and checks them.
 */

import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect } from "vitest"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { IS_LONG, testInFull } from "../support/seeded.ts"
import { dropFiles, FAR, holdUploads, isShown, openWithMessages, PLAN, SOON } from "./media-pages.ts"
import { FIELD, PHONE, takeScreenshot, THEMES } from "./page.ts"
import { canvas, media, createWireMessage, text } from "./samples.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const PICTURES = fileURLToPath(
  new URL(process.env["PICTURES"] === "docs" ? "../../docs/pictures/" : "out/", import.meta.url),
)

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "3" } }, { withFiles: true })

beforeAll(() => {
  mkdirSync(PICTURES, { recursive: true })
})

/** Takes one screenshot of each kind of segment in both themes. */
describe("screenshots for the documentation", () => {
  /** For each kind: its name, the answer's segments, and a check that they are rendered. */
  const KINDS: readonly (readonly [string, () => WireMessage["segments"], (page: Page, theme: string) => unknown])[] = [
    [
      "image",
      () => [text("This is the bay at dusk."), media("image", "/media/landscape", "The bay at dusk")],
      (page) => isShown(page),
    ],
    [
      "chart",
      () => [text("July was the best month:"), media("image", "/media/chart", "Visitors by month")],
      (page) => isShown(page),
    ],
    [
      "remote",
      () => [
        text("Somebody else has a picture of it."),
        media("image", FAR, "harbour.png"),
        text("And ![a map](https://example.net/map.png) of the way."),
      ],
      (page) => expect.poll(() => page.$$(".gate"), SOON).toHaveLength(2),
    ],
    [
      "audio",
      () => [text("It sounds like this."), media("audio", "/media/tone", "harbour.wav")],
      (page) => page.waitForSelector(".sound .play"),
    ],
    [
      "voice",
      () => [media("audio", "/media/note", "note", { voice: true, size: 80_044 })],
      (page) => expect.poll(() => page.getAttribute(".wave path", "d"), SOON).toMatch(/^M2 [\d.]+V/),
    ],
    [
      "video",
      () => [media("video", "/media/film", "film.webm")],
      (page) => page.waitForFunction(() => (document.querySelector("video")?.readyState ?? 0) > 1),
    ],
    [
      "file",
      () => [
        text("The figures are in this table."),
        media("file", "/media/table", "visitors.csv", { mime_type: "text/csv", size: 4_200 }),
      ],
      (page) => page.waitForSelector("button.file"),
    ],
    [
      "canvas",
      () => [text("So the day could go:"), canvas(PLAN, "Plan of the visit", 190)],
      (page, theme) =>
        expect.poll(() => page.frameLocator("iframe").locator("body").getAttribute("class"), SOON).toBe(theme),
    ],
  ]

  const segmentsIn = (page: Page) =>
    page.$$eval("[data-role=assistant] [data-segment]", (all) =>
      all.map((element) => element.getAttribute("data-segment")),
    )

  testInFull.each(THEMES)("[PG39] [PG41] every kind of media segment is drawn, %s", async (theme) => {
    // Only a long run, and one that renews docs/pictures/, draws each kind in both themes.
    const isComplete = IS_LONG || process.env["PICTURES"] !== undefined
    const kinds = KINDS.filter((_, index) => isComplete || THEMES[index % 2] === theme)
    for (const [name, segments, expectDrawn] of kinds) {
      const messages = [createWireMessage("user", [text("And?")]), createWireMessage("assistant", segments())]
      const size = { width: 720, height: 640 }
      const { page, context, errors, externalUrls } = await openWithMessages(setup, messages, { theme, size })
      await expect.poll(() => segmentsIn(page), SOON).toEqual(segments().map(({ type }) => type))
      await expectDrawn(page, theme)
      await takeScreenshot(page, "article[data-role=assistant]", `${PICTURES}${name}-${theme}.png`)
      expect([errors, externalUrls], name).toEqual([[], []])
      await context.close()
    }
  })

  testInFull.each(THEMES)(
    "[PG42] [PG43] [PG57] a reply, files in the composer and an open image are drawn, %s",
    async (theme) => {
      const signRequests = createWireMessage("user", [
        text("Which of these is older?"),
        media("image", "/media/landscape", "bay.png"),
        media("image", "/media/portrait", "hills.png"),
        media("file", "/media/table", "visitors.csv", { size: 4_200 }),
      ])
      const reply = createWireMessage(
        "assistant",
        [text("The first one: the light falls as it did before the tower stood.")],
        {
          reply_to: signRequests.id,
        },
      )
      for (const [size, place] of [
        [{ width: 720, height: 620 }, ""],
        [PHONE, "phone-"],
      ] as const) {
        const { page, context, errors, externalUrls } = await openWithMessages(setup, [signRequests, reply], {
          theme,
          size,
        })
        const resumeUploads = await holdUploads(context)
        await page.waitForFunction(() => document.querySelectorAll(".frame img").length === 2)
        await dropFiles(page, "main", ["Notes from the visit.txt", "tool.exe"])
        await page.hover("article[data-role=assistant]")
        await page.click("article[data-role=assistant] [data-focus-key=reply]")
        await page.waitForSelector(".chip[data-state=failed]")
        await page.fill(FIELD, "How sure are you?")
        await takeScreenshot(page, "#app", `${PICTURES}${place}reply-${theme}.png`)
        if (place === "") {
          await page.click(".frame >> nth=0")
          await isShown(page, ".lightbox .stage img")
          await takeScreenshot(page, "#app", `${PICTURES}lightbox-${theme}.png`)
        }
        expect(await page.textContent(".quoted .what")).toContain("The first one: the light falls")
        const states = await page.$$eval(".chip[data-state]", (all) =>
          all.map((element) => element.getAttribute("data-state")),
        )
        expect(states).toEqual(["sending", "failed"])
        // The refused upload may be the only error in the console.
        expect(errors.filter((error) => !error.includes("415"))).toEqual([])
        expect(externalUrls).toEqual([])
        resumeUploads()
        await context.close()
      }
    },
  )
})
