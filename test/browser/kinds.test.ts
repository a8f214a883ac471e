/** kinds.test.ts: one screenshot of each kind of text segment in both themes. Media segments are in media.test.ts. */

import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { beforeAll, expect, test } from "vitest"
import { createCardSegment, createWeather } from "../support/page-fixtures/messages.ts"
import { everyNth } from "../support/seeded.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { withRoutedSockets } from "../support/reused-contexts.ts"
import { openIn, takeScreenshot, THEMES } from "./page.ts"
import { epochOf, createWireMessage, sendMessages, text } from "./samples.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const PICTURES = fileURLToPath(
  new URL(process.env["PICTURES"] === "docs" ? "../../docs/pictures/" : "out/", import.meta.url),
)
const SIZE = { width: 720, height: 640 }

const setup = useServerAndBrowser()

beforeAll(() => {
  mkdirSync(PICTURES, { recursive: true })
})

const PROSE = `## What to pack

For **two days** by the sea you need little:

1. A coat that keeps the *wind* out
2. Shoes for [the path](https://example.com/path)

| Day | High | Rain |
|---|--:|--:|
| Saturday | 14 °C | 70 % |
| Sunday | 17 °C | 10 % |

\`\`\`ts
const dry = days.filter(({ rain }) => rain < 0.5)
\`\`\``
const WHY = "Two days by the sea in May: it is the wind that decides what to wear, so I look at that first."
const exchange = "x1"
const toAgent = { direction: "received", name: "general", exchange } as const
const tool: Segment = {
  type: "tool",
  call_id: "c1",
  name: "weather",
  args: '{"location":"London"}',
  status: "ok",
  result: '{"location":"London, GB","temperature_c":12.4,"condition":"Overcast"}',
}

const createAnswer = (...segments: Segment[]): WireMessage[] => [
  createWireMessage("user", [text("And?")]),
  createWireMessage("assistant", segments),
]

/** For each kind: its name, its messages, the element that is clicked, and the element that the screenshot shows. */
const KINDS: readonly (readonly [name: string, () => WireMessage[], opened: string | null, shown: string])[] = [
  ["text", () => createAnswer(text(PROSE)), null, "article[data-role=assistant]"],
  ["thinking", () => createAnswer({ type: "thinking", content: WHY, ms: 3_200 }, text("A coat.")), "summary", ""],
  ["tool", () => createAnswer(tool, text("Twelve degrees.")), "summary", ""],
  [
    "card",
    () =>
      createAnswer(
        text("It will be mild:"),
        createCardSegment(createWeather("Overcast"), "Take a coat for the evening."),
      ),
    null,
    "",
  ],
  [
    "agent",
    () => [
      createWireMessage("user", [{ type: "agent", content: "Where is it **warm** in May?", ...toAgent }], {
        role: "agent",
        agent: toAgent,
        exchange_id: exchange,
      } as Partial<WireMessage>),
      createWireMessage("assistant", [text("In Seville: 26 degrees and dry.")], {
        exchange_id: exchange,
        agent: { ...toAgent, direction: "sent" },
      }),
    ],
    null,
    "section.exchange",
  ],
]

test.each(everyNth(THEMES, 2))("[PG39] [PG61] every kind of text segment is drawn, %s", async (theme) => {
  for (const [name, messages, opened, shown] of KINDS) {
    const context = await setup.browser.newContext(withRoutedSockets({ viewport: SIZE, colorScheme: theme }))
    const { id } = await setup.cuecard.createSession()
    await sendMessages(context, await epochOf(setup.cuecard.url, setup.cuecard.token, id), messages())
    const { page, errors } = await openIn(context, setup.cuecard, `#/s/${id}`)
    const selector = shown === "" ? "article[data-role=assistant]" : shown
    const segment = page.locator(selector)
    await segment.waitFor()
    if (opened !== null) await segment.locator(opened).first().click()
    await takeScreenshot(page, selector, `${PICTURES}${name}-${theme}.png`)
    expect(errors).toEqual([])
    await context.close()
  }
})
