/** kinds.test.ts: the kinds of segment that are words, one picture each in both themes; those of media: media.test.ts. */

import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { beforeAll, expect, test } from "vitest"
import { createCardSegment, createWeather } from "../support/page-fixtures/messages.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { openIn } from "./page.ts"
import { epochOf, said, say, text } from "./samples.ts"
import { setStage } from "./stage.ts"

const PICTURES = fileURLToPath(
  new URL(process.env["PICTURES"] === "docs" ? "../../docs/pictures/" : "out/", import.meta.url),
)
const SIZE = { width: 720, height: 640 }

const stage = setStage()

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

const answer = (...segments: Segment[]): WireMessage[] => [said("user", [text("And?")]), said("assistant", segments)]

/** Of each: what is said, what is clicked open, and what the picture shows. */
const KINDS: readonly (readonly [name: string, () => WireMessage[], opened: string | null, shown: string])[] = [
  ["text", () => answer(text(PROSE)), null, "article[data-role=assistant]"],
  ["thinking", () => answer({ type: "thinking", content: WHY, ms: 3_200 }, text("A coat.")), "summary", ""],
  ["tool", () => answer(tool, text("Twelve degrees.")), "summary", ""],
  [
    "card",
    () =>
      answer(text("It will be mild:"), createCardSegment(createWeather("Overcast"), "Take a coat for the evening.")),
    null,
    "",
  ],
  [
    "agent",
    () => [
      said("user", [{ type: "agent", content: "Where is it **warm** in May?", ...toAgent }], {
        role: "agent",
        agent: toAgent,
        exchange_id: exchange,
      } as Partial<WireMessage>),
      said("assistant", [text("In Seville: 26 degrees and dry.")], {
        exchange_id: exchange,
        agent: { ...toAgent, direction: "sent" },
      }),
    ],
    null,
    "section.exchange",
  ],
]

test.each(["light", "dark"] as const)("[PG39] [PG61] every kind of segment that is words, %s", async (theme) => {
  for (const [name, messages, opened, shown] of KINDS) {
    const context = await stage.browser.newContext({ viewport: SIZE, colorScheme: theme })
    const { id } = await stage.cuecard.createSession()
    await say(context, await epochOf(stage.cuecard.url, stage.cuecard.token, id), messages())
    const { page, errors } = await openIn(context, stage.cuecard, `#/s/${id}`)
    const segment = page.locator(shown === "" ? "article[data-role=assistant]" : shown)
    await segment.waitFor()
    if (opened !== null) await segment.locator(opened).first().click()
    // Entrances.
    await page.waitForTimeout(900)
    await page.mouse.move(0, 0)
    await segment.screenshot({ path: `${PICTURES}${name}-${theme}.png`, animations: "disabled" })
    expect(errors).toEqual([])
    await context.close()
  }
})
