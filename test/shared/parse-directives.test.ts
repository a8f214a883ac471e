/** parse-directives.test.ts: tests which segments directives in model text become, whole and in chunks. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { splitCode } from "../../shared/text/code-tracker.ts"
import { type DirectiveContext, parseDirectives } from "../../shared/segment/parse-directives.ts"
import { apply } from "../../shared/protocol/apply-ops.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { grantsToPermit } from "../../shared/segment/grant.ts"
import { MAX_PENDING_CHARS, MAX_MEDIA_LINE_CHARS, MAX_URL_CHARS } from "../../shared/limits.ts"
import { createDelivery } from "../../shared/segment/part-segmenter.ts"
import { createTokenScanner, type TextToken } from "../../shared/segment/text-tokens.ts"
import { createSegmenter } from "../../shared/segment/segmenter.ts"
import { createCardTrailer } from "../../worker/tool/tool.ts"
import { printReply, printSegments } from "../support/golden.ts"
import { directiveText, IMAGE, SOUND } from "../support/directive-text.ts"
import { longText, shortText } from "../support/model-text.ts"
import { assertProperty, cutsOf, everyNth, RUNS } from "../support/seeded.ts"

/** Returns the segments of some text, one per line, in the notation of the golden files. */
function printDirectives(text: string, context: DirectiveContext = {}): string[] {
  const { segments, voice, reply_to, drift } = parseDirectives(text, context)
  return [...printSegments(segments, drift), ...(voice ? ["voice"] : []), ...printReply(reply_to ?? undefined)]
}

const A = 'media image https://a.com/x.png "x.png"'

describe("MEDIA: lines", () => {
  test.each<[string, string[]]>([
    ["MEDIA: https://a.com/x.png", [A]],
    ["media:https://a.com/x.png", [A]],
    ["   Media:\thttps://a.com/x.png  ", [A]],
    ["a\n MEDIA: https://a.com/x.png\nb", ['text "a"', A, 'text "b"']],
    ["MEDIA: https://a.com", ['media file https://a.com/ "a.com"']],
    ["MEDIA: /media/as_1-Z", ['media file /media/as_1-Z "as_1-Z"']],
    ["MEDIA: https://a.com/x.png?y=1#z", ['media image https://a.com/x.png?y=1#z "x.png"']],
    ["MEDIA: https://a.com/%e2%82%ac.mp3", ['media audio https://a.com/%e2%82%ac.mp3 "€.mp3"']],
    ["MEDIA: https://a.com/%ff.mp3", ['media audio https://a.com/%ff.mp3 "%ff.mp3"']],
    // The file name determines the kind.
    ["MEDIA: https://a.com/x%E2%80%AEgnp.exe", ['media file https://a.com/x%E2%80%AEgnp.exe "xgnp.exe"']],
    ["MEDIA: https://a.com/%0A%00x.png", ['media image https://a.com/%0A%00x.png "x.png"']],
    ["MEDIA: https://a.com/%E2%80%8B", ['media file https://a.com/%E2%80%8B "a.com"']],
  ])("[DR1] %j", (text, expected) => {
    expect(printDirectives(text)).toEqual(expected)
  })

  test.each([
    ..."/etc/x.png ./x.png ../x.png ~/x.png x.png C:\\x.png C:/x.png file:///x.png data:image/png;base64,AA".split(" "),
    ..."blob:https://a.com/x http://a.com/x.png ftp://a.com/x https://u@a.com/x https://u:p@a.com/x //a.com/x.png".split(
      " ",
    ),
    ..."https:a.com/x.png https:/a.com/x https://localhost/x https://10.0.0.1/x https://[::1]/x https://a/x.png".split(
      " ",
    ),
    ..."/media/ /media/../x /media/a/b /media/a?b /media/%2e%2e (https://a.com/x.png) ![x](https://a.com/x.png)".split(
      " ",
    ),
  ])("[DR2] MEDIA: %s stays a visible line, with drift", (value) => {
    const { segments, drift } = parseDirectives(`MEDIA: ${value}`)
    expect(segments).toEqual([{ type: "text", content: `MEDIA: ${value}` }])
    expect(drift.map(({ reason }) => reason)).toEqual(["media_refused"])
  })

  test.each([
    "https://user:SECRET@a.com/x",
    "https://user:SEC@RET@a.com/x",
    `https://user:${"SECRET".repeat(60)}@a.com/x`,
    "https:user:SECRET@a.com",
    "https:/user:SECRET@a.com",
    "https:\\\\user:SECRET@a.com\\x",
    "'https://user:SECRET@a.com",
    "//SECRET@a.com/x",
  ])("[DR2] drift for %s contains no secret", (value) => {
    const { drift } = parseDirectives(`MEDIA: ${value}\n[embed url="${value.replaceAll('"', "")}" /]`)
    expect(drift.map(({ reason }) => reason)).toEqual(["media_refused", "embed_refused"])
    expect(JSON.stringify(drift)).not.toMatch(/SEC|RET/)
  })

  test.each([
    ["MEDIA:"],
    ["MEDIA: "],
    ["MEDIA: the fourth estate"],
    ["MEDIAS: https://a.com/x.png"],
    ["MULTIMEDIA: https://a.com/"],
  ])("[DR2] %j is text", (text) => {
    expect(printDirectives(text)).toEqual([`text ${JSON.stringify(text.trim())}`])
  })

  test("[DR2] a value over MAX_URL_CHARS and a line that doesn't end within MAX_MEDIA_LINE_CHARS are text", () => {
    const createUrl = (size: number) => "https://a.com/x".padEnd(size, "x")
    expect(parseDirectives(`MEDIA: ${createUrl(MAX_URL_CHARS)}`).segments.map(({ type }) => type)).toEqual(["media"])
    expect(parseDirectives(`MEDIA: ${createUrl(MAX_URL_CHARS + 1)}`).segments.map(({ type }) => type)).toEqual(["text"])
    const createMediaLine = (size: number) => "MEDIA: https://a.com/x.png ".padEnd(size, "x")
    expect(printDirectives(`${createMediaLine(MAX_MEDIA_LINE_CHARS - 1)}\n`)[0]).toBe(A)
    expect(parseDirectives(`${createMediaLine(MAX_MEDIA_LINE_CHARS)}\n`).segments.map(({ type }) => type)).toEqual([
      "text",
    ])
  })

  test.each<[string, string[]]>([
    ["MEDIA: `https://a.com/x.png`", [A]],
    ["MEDIA: 'https://a.com/x.png'.", [A, 'text "."']],
    ['MEDIA: "https://a.com/x.png", ok', [A, 'text "ok"']],
    ...["`", '"', "'", "\\", ")", "}", "]", ",", "`)],"].map((end): [string, string[]] => [
      `MEDIA: https://a.com/x.png${end}`,
      [A],
    ]),
    ["MEDIA: https://a.com/x.png https://a.com/y.mp4", [A, 'media video https://a.com/y.mp4 "y.mp4"']],
    [
      "MEDIA: a cat https://a.com/x.png sits /etc/x",
      ['text "a cat"', A, 'text "sits /etc/x"', "drift media_refused /etc/x"],
    ],
    ["MEDIA: [[audio_as_voice]] https://a.com/x.mp3", ['media audio https://a.com/x.mp3 "x.mp3" voice', "voice"]],
    [
      "MEDIA: https://a.com/x.mp3 [[audio_as_voice]] yes",
      ['media audio https://a.com/x.mp3 "x.mp3" voice', 'text "yes"', "voice"],
    ],
    ["MEDIA: [[x]] https://a.com/x.png", ['text "[[x]]"', A]],
    ["MEDIA: https://a.com/x.png <b>bold</b>", [A, 'text "<b>bold</b>"']],
  ])("[DR3] %j", (text, expected) => {
    const found = printDirectives(text)
    expect(found).toEqual(expected)
  })

  test.each([
    "```\nMEDIA: https://a.com/x.png\n```",
    "~~~\n[[reply_to_current]]",
    "> ```\n> MEDIA: https://a.com/x.png",
    "- ```\nMEDIA: https://a.com/x.png",
    "`\nMEDIA: https://a.com/x.png\n`",
    "`[[audio_as_voice]]`",
    "`` ` [embed ref='a' /] ``",
    "    MEDIA: https://a.com/x.png",
    "\tMEDIA: https://a.com/x.png",
    "- MEDIA: https://a.com/x.png",
    "> MEDIA: https://a.com/x.png",
    "x MEDIA: https://a.com/x.png",
    "\\[[audio_as_voice]]",
    "\\[embed ref='a' /]",
  ])("[DR4] %j contains no directive", (text) => {
    expect(printDirectives(text)).toEqual([`text ${JSON.stringify(text.trim())}`])
  })

  test("[DR4] code that ends before a directive doesn't hide it", () => {
    expect(printDirectives("```\nx\n```\nMEDIA: https://a.com/x.png")).toEqual(['text "```\\nx\\n```"', A])
    expect(printDirectives("`x\n\nMEDIA: https://a.com/x.png\n`")).toEqual(['text "`x"', A, 'text "`"'])
  })
})

describe("replies and voice", () => {
  test.each<[string, string[]]>([
    ["[[reply_to_current]] x", ['text "x"', "replies u1"]],
    ["[[ Reply_To_Current\t]]x", ['text "x"', "replies u1"]],
    ["[[reply_to: m1 ]]x", ['text "x"', "replies m1"]],
    ["[[reply_to:m1]][[reply_to:m2]]x[[reply_to_current]]", ['text "x"', "replies m2"]],
    ["[[reply_to_current]]x[[reply_to:m9]]", ['text "x"', "drift reply_unknown m9", "replies u1"]],
    ["[[reply_to:m1]]x[[reply_to:m9]]", ['text "x"', "drift reply_unknown m9", "replies m1"]],
    ["[[AUDIO_as_voice]]", ["voice"]],
    ["x[[audio_as_voice ]]y", ['text "xy"', "voice"]],
    ["[[audio_as\n_voice]]", ['text "[[audio_as\\n_voice]]"']],
    ["x[[reply_to]]y [[reply_to:a b]]", ['text "xy"', "drift reply_unknown nothing", "drift reply_unknown a b"]],
    ["x[[ reply_to : [m1] ]]", ['text "x"', "drift reply_unknown [m1]"]],
    ["[reply_to_current] [[reply_tom1]]", ['text "[reply_to_current] [[reply_tom1]]"']],
  ])("[DR5] [DR22] %j", (text, expected) => {
    expect(printDirectives(text, { current: "u1", replies: ["m1", "m2"] })).toEqual(expected)
  })

  test("[DR5] a directive over MAX_PENDING_CHARS is text", () => {
    const createTag = (size: number) => `[[${" ".repeat(size - "[[audio_as_voice]]".length)}audio_as_voice]]`
    expect(parseDirectives(createTag(MAX_PENDING_CHARS)).voice).toBe(true)
    expect(parseDirectives(createTag(MAX_PENDING_CHARS + 1)).voice).toBe(false)
  })
})

describe("embeds", () => {
  const printOwnCanvas = (id: string, more = "") => `canvas ${id} /canvas/documents/${id}/index.html${more}`
  test.each<[string, string[]]>([
    ['[embed ref="a" /]', [printOwnCanvas("a")]],
    ["[EMBED\n  REF = 'a'\n/]", [printOwnCanvas("a")]],
    ['[embed ref="a" title="it\'s ] /] so"/]', [printOwnCanvas("a", ' "it\'s ] /] so"')]],
    ["[embed ref='a' height='160' /]", [printOwnCanvas("a", " 160")]],
    ["[embed ref='a' height='159.9' /]", [printOwnCanvas("a")]],
    ["[embed ref='a' height='1200.9' /]", [printOwnCanvas("a", " 1200")]],
    ["[embed ref='a' height='99999px' /]", [printOwnCanvas("a", " 1200")]],
    ["[embed ref='a' height='-5' /][embed ref='b' height='x' /]", [printOwnCanvas("a"), printOwnCanvas("b")]],
    ["[embed ref='a' ref='b' other='c' target='Assistant_message' /]", [printOwnCanvas("a")]],
    ["[embed url='/canvas/documents/a/index.html' ref='b' /]", [printOwnCanvas("a")]],
    ["[embed url='' ref='a' /]", [printOwnCanvas("a")]],
    ["[embed url='https://ok.com/x?y' ref='a' title='T' /]", ['canvas a https://ok.com/x?y "T"']],
    ["[embed url='https://ok.com:443/' /]", ["canvas - https://ok.com/"]],
    ["a[embed ref='x'/]b", ['text "a"', printOwnCanvas("x"), 'text "b"']],
  ])("[DR6] [DR16] %j", (text, expected) => {
    expect(printDirectives(text, { origins: ["https://ok.com"] })).toEqual(expected)
  })

  test.each([
    "[embed /]",
    "[embed ref='' /]",
    "[embed ref='../x' /]",
    "[embed ref='a b' /]",
    "[embed ref=a /]",
    "[embed ref='a']",
    "[embed ref='a']x[/embed]",
    "[embed ref='a' target='tool' /]",
    "[embed title='x' /]",
    "[embed url='https://ok.com.evil.com/' /]",
    "[embed url='http://ok.com/' /]",
    "[embed url='https://ok.com:8443/' /]",
    "[embed url='https://u@ok.com/' /]",
    "[embed url='javascript:alert(1)' ref='a' /]",
    "[embed url='/canvas/documents/a/b/c.html' /]",
    "[embed url='/canvas/documents/a/' /]",
    "[embed url='/canvas/documents/../x' /]",
    "[embed url='/canvas/documents/a/../b/index.html' /]",
    "[embed url='/canvas/documents/a/%2e%2e/b' /]",
    "[embed url='/v1/sessions' /]",
    "[embed url='//ok.com/' /]",
    "[embeds ref='a' /]",
    "[view ref='a' /]",
    "present_view ref='a'",
  ])("[DR16] %s is text", (text) => {
    expect(parseDirectives(text, { origins: ["https://ok.com"] }).segments).toEqual([{ type: "text", content: text }])
  })
})

const ROWS = [{ name: "weather", ordinal: 1, result: `{"c":1}\n\n${createCardTrailer("weather_1")}` }]

function rawOf(chunks: readonly TextToken[]): string {
  return chunks
    .map((chunk) => (chunk.type === "text" ? chunk.text : chunk.type === "refused" ? "" : chunk.raw))
    .join("")
}

/**
 * Creates a segmenter that is fed chunk by chunk. Its `state` contains the segments and the message's state so far.
 */
function createFollower() {
  const delivery = createDelivery("u1")
  const permit = grantsToPermit({ origins: ["https://ok.com"], replies: ["m1"], assets: [IMAGE, SOUND] })
  const segmenter = createSegmenter(ROWS, { delivery, permit })
  let segments: Segment[] = []
  const printState = (): string =>
    toCanonicalJson([segments, delivery.isVoice(), delivery.getReplyTo(), segmenter.drift])
  return {
    state: printState,
    push(text: string): void {
      segments = apply(segments, segmenter.push(text))
    },
    end(): string {
      segments = apply(segments, segmenter.end())
      return printState()
    },
  }
}

function expectAnyCut(text: string, chunks: readonly string[]): void {
  const cut = createFollower()
  let soFar = ""
  for (const chunk of chunks) {
    soFar += chunk
    const fresh = createFollower()
    fresh.push(soFar)
    cut.push(chunk)
    expect(cut.state()).toBe(fresh.state())
  }
  const whole = createFollower()
  whole.push(text)
  expect(cut.end()).toBe(whole.end())
}

describe("text that is cut anywhere", () => {
  test("[DR9] has the same segments, replies, voice and drift after every chunk, between spans, fences, lists and quotes", () => {
    assertProperty(
      fc.property(
        directiveText.chain((text) => cutsOf(text).map((chunks) => ({ text, chunks }))),
        ({ text, chunks }) => expectAnyCut(text, chunks),
      ),
    )
  })

  test("[DR9] has the same segments one code unit at a time, and around the limits", () => {
    assertProperty(
      fc.property(directiveText, (text) => expectAnyCut(text, text.split(""))),
      RUNS / 10,
    )
    const long = fc.tuple(directiveText, longText, directiveText).map((all) => all.join(""))
    assertProperty(
      fc.property(
        long.chain((text) => cutsOf(text).map((chunks) => ({ text, chunks }))),
        ({ text, chunks }) => expectAnyCut(text, chunks),
      ),
      RUNS / 50,
    )
  })

  test("[DR9] has tokens that add up to the text", () => {
    assertProperty(
      fc.property(fc.oneof(directiveText, shortText), (text) => {
        const scanner = createTokenScanner()
        expect(rawOf([...scanner.push(text), ...scanner.end()])).toBe(text)
      }),
    )
  })

  test.each([
    ["MEDI", ""],
    ["a MEDI", 'text "a MEDI"'],
    ["a\nMED", 'text "a"'],
    ["MEDIA: https://a.com/x.png", ""],
    ["MEDIA: https://a.com/x.png\n", A],
    ["a [", 'text "a"'],
    ["a [x", 'text "a [x"'],
    ["a [[reply_to_curr", 'text "a"'],
    ["a [[repx", 'text "a [[repx"'],
    ["a [embed ref='x", 'text "a"'],
    ["a [embed ref=x", 'text "a [embed ref=x"'],
    ["`a b", 'text "`a b"'],
    ["`a [[", 'text "`a"'],
  ])("[DR9] after %j, this much is shown at once: %s", (text, shown) => {
    const segments = apply([], createSegmenter([]).push(text))
    expect(printSegments(segments, []).join("")).toBe(shown)
  })
})

test("[DR4] no directive is taken from inside code", () => {
  const intoCode = (text: string): string =>
    splitCode(text)
      .map((chunk) => (chunk.code ? chunk.text : ""))
      .join("")
  assertProperty(
    fc.property(directiveText, (text) => {
      fc.pre(!/<\/?spa|\\|\[embed|media:/i.test(text))
      const { segments } = parseDirectives(text)
      const shown = segments.map((segment) => (segment.type === "text" ? segment.content : "")).join("\n\n")
      // Check only bracket directives, because text in code must be unchanged and in order.
      for (const tag of intoCode(text).match(/\[\[[^[\]\n]*\]\]/g) ?? []) expect(shown).toContain(tag)
    }),
  )
})

const MILLION = 1_000_000

test.each(
  everyNth(
    [
      ["[["],
      ["[embed "],
      ['[embed a="'],
      ["[embed a='\" b=\"'"],
      ["[embed ref='a' /]"],
      ["[[reply_to:"],
      ["[[audio_as_voice]]"],
      ["MEDIA:"],
      ["MEDIA: https://a.com/x.png\n"],
      ["MEDIA: \"'`))))]]]]"],
      ["\nMEDIA: `"],
      ["MEDIA: [[\n"],
      ["https://a.com/ "],
      ["\n m"],
      ["<span id='weather_1'>[["],
      ["<span id='weather_1'>[embed a=\""],
      ["`[["],
      ["MEDIA: /media/a\n"],
      ["\nMEDIA: /media/none /media/a [[x]] `q`"],
      ["[[reply_to:m9]]"],
      ["[embed url='https://no.com/' /]"],
      [`MEDIA: https://${"a.".repeat(60)}com/\n`],
      [`MEDIA: https://${"a.".repeat(2_000)}com/\n`],
      [`[embed url='/canvas/documents/a/${"b".repeat(4_000)}!' /]`],
      [`[embed url='/canvas/documents/a/${"b.".repeat(2_000)}!' /]`],
    ],
    3,
  ),
)("[DR10] a million code units of %j are parsed in time, whole and in chunks", (unit) => {
  const text = unit.repeat(Math.ceil(MILLION / unit.length))
  const whole = createFollower()
  whole.push(text)
  const cut = createFollower()
  for (let at = 0; at < text.length; at += 1_000) cut.push(text.slice(at, at + 1_000))
  expect(cut.end()).toBe(whole.end())
})
