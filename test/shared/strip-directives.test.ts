/** strip-directives.test.ts: tests how directives and spans are removed from text. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseDirectives } from "../../shared/segment/parse-directives.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { stripSpans } from "../../shared/segment/span-tag.ts"
import type { Grants } from "../../shared/protocol/message.ts"
import { assetToNote, stripDirectives } from "../../shared/segment/strip-directives.ts"
import { directiveText } from "../support/directive-text.ts"
import { assertProperty } from "../support/seeded.ts"

const CHART: Asset = { id: "c1", kind: "image", mime_type: "image/png", label: "chart.png", size: 9 }
const GRANTS: Grants = { origins: ["https://ok.com"], replies: ["m1"], assets: [CHART] }

describe("text sent back to the model", () => {
  test.each<[string, string]>([
    ["no directive, `MEDIA:` said in passing", "no directive, `MEDIA:` said in passing"],
    ["See:\nMEDIA: /media/c1\nGood?", "See:\n(attached: chart.png, /media/c1)\nGood?"],
    ["MEDIA: /media/none", "(not attached: /media/none)"],
    [
      "MEDIA: a /media/c1 b https://a.com/x%20y.png.",
      "a (attached: chart.png, /media/c1) b (attached: x y.png., https://a.com/x%20y.png.)",
    ],
    ["MEDIA: /etc/x", "MEDIA: /etc/x"],
    ["[[reply_to_current]] Yes. [[reply_to: m9 ]][[audio_as_voice]]", " Yes. "],
    ["[embed ref='b1' title='Board [1]' /]", "(embedded: Board 1, /canvas/documents/b1/index.html)"],
    [
      "[embed url='https://ok.com/x' /] [embed url='https://no.com/x' /]",
      "(embedded: document, https://ok.com/x) (not embedded: https://no.com/x)",
    ],
    ["```\nMEDIA: /media/c1\n```\n`[[audio_as_voice]]`", "```\nMEDIA: /media/c1\n```\n`[[audio_as_voice]]`"],
    ["<span id='weather_1'>cool\nMEDIA: /media/c1\n</span>", "cool\n(attached: chart.png, /media/c1)\n"],
    ["\\[[audio_as_voice]]`x`", "\\[[audio_as_voice]]`x`"],
    ["\\[[audio_as_voice]]", "\\[[audio_as_voice]]"],
  ])("[DR14] %j is sent back as %j", (text, expected) => {
    expect(stripDirectives(text, GRANTS)).toBe(expected)
  })

  test.each([
    "[[audio_as_[[audio_as_voice]]voice]]",
    "[[audio_as_voice]]MEDIA: /media/c1",
    "[embed ref='a' title='[[reply_to:']]' /]",
    "<span [[audio_as_voice]]id='weather_1'>x</span>",
    "[[audio_as_<span id='a_1'>x</span>voice]]",
    "`[[audio_as_voice]]`[[audio_as_voice]]`",
    "MEDIA: https://a.com/[[audio_as_voice]]/x",
    "[embed ref='a' title='[[audio_as_voice]]' /]",
  ])("[DR14] %j leaves no directive and no tag, even if one is nested in another", (text) => {
    expectNothingLeft(text)
  })

  test("[DR14] whatever the text, no directive or tag is left, stripping is idempotent, and code is kept", () => {
    assertProperty(fc.property(directiveText, (text) => expectNothingLeft(text)))
    assertProperty(
      fc.property(directiveText, (text) => {
        fc.pre(!/<\/?spa/i.test(text))
        const stripped = stripDirectives(text, GRANTS)
        if (!/\[\[|embed|media:/i.test(text.replace(/`/g, ""))) expect(stripped).toBe(text)
      }),
    )
  })

  test("[DR14] a note is one line without syntax, whatever the file's name", () => {
    const label = "a\n[[audio_as_voice]] <span id='x_1'> `b` MEDIA: (c)"
    expect(assetToNote({ ...CHART, label })).toBe("(attached: a audio_as_voice span id='x_1' b MEDIA: c, /media/c1)")
    expect(assetToNote({ ...CHART, label: "😀".repeat(150) }).isWellFormed()).toBe(true)
  })
})

test.each([
  "[[audio_as_[[audio_as_voice]]voice]]",
  "[embed ref='a' title='[[reply_to:']]' /]",
  "<span [[audio_as_voice]]id='a_1'>",
  "MEDIA: /media/c1\n",
  "`[[audio_as_voice]]`[[audio_as_voice]]",
])("[DR10] [DR14] a million code units of %j are stripped within the time limit", (unit) => {
  expectNothingLeft(unit.repeat(Math.ceil(1_000_000 / unit.length)))
})

function expectNothingLeft(text: string): void {
  const stripped = stripDirectives(text, GRANTS)
  const { segments, voice, reply_to } = parseDirectives(stripped)
  expect({ kinds: segments.filter(({ type }) => type !== "text"), voice, reply_to }).toEqual({
    kinds: [],
    voice: false,
    reply_to: null,
  })
  expect(stripSpans(stripped)).toBe(stripped)
  expect(stripDirectives(stripped, GRANTS)).toBe(stripped)
}
