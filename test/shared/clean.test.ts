/** clean.test.ts: tests the sanitiser with examples of what it removes, what it keeps, and how it handles chunks. */

import { expect, test } from "vitest"
import { type CleanState, clean, cleanToModel, createCleaner } from "../../shared/sanitize/clean.ts"
import { MAX_PENDING_CHARS } from "../../shared/limits.ts"

/** The word joiner. The tests refer to it by name, because it is invisible. */
const WJ = "\u2060"

type Row = readonly [raw: string, clean: string]

function cleanChunks(chunks: readonly string[]): string {
  const cleaner = createCleaner()
  return chunks.map((chunk) => cleaner.push(chunk)).join("") + cleaner.end()
}

/**
 * Expects the same result for the whole text, for single code units, and for a cleaner that is saved and restored at
 * every index.
 */
function expectClean(raw: string, expected: string): void {
  expect(clean(raw)).toBe(expected)
  expect(clean(expected), "cleaned twice").toBe(expected)
  expect(cleanChunks(raw.split("")), "in single code units").toBe(expected)
  for (let at = 0; at <= raw.length; at++) {
    const before = createCleaner()
    const head = before.push(raw.slice(0, at))
    const state = JSON.parse(JSON.stringify(before.save())) as CleanState
    const after = createCleaner(state)
    expect(head + after.push(raw.slice(at)) + after.end(), `woken at ${at}`).toBe(expected)
  }
}

function testRows(rule: string, rows: readonly Row[]): void {
  test.each(rows)(`[${rule}] %j`, (raw, expected) => expectClean(raw, expected))
}

const KEPT =
  "b i u s em strong code pre kbd mark sub sup br hr p ul ol li blockquote h1 h2 h3 h4 table thead tbody tr th td".split(
    " ",
  )

test.each(KEPT)("[CL1] <%s> keeps only its tag", (name) => {
  expectClean(`<${name.toUpperCase()} class="x" onclick=y>`, `<${name}>`)
  expectClean(`</${name} x>`, name === "br" || name === "hr" ? "" : `</${name}>`)
})

testRows("CL1", [
  ["<B onclick=x>b</B>", "<b>b</b>"],
  ["a<br/>b<br />c", "a<br>b<br>c"],
  ["<p\nclass='x'>y</p>", "<p>y</p>"],
  ["<b a='>' c=\"<i>\">x", "<b>x"],
  ["</b>", "</b>"],
])

testRows("CL2", [
  ["<span id='weather_1'>Hi</span>", "<span id='weather_1'>Hi</span>"],
  ['<span id="weather_1">Hi</span>', '<span id="weather_1">Hi</span>'],
  ["<SPAN  ID='weather_1' class=x>Hi</SPAN >", "<span id='weather_1'>Hi</span>"],
  ["<span class='evil' onclick='…'>x</span>", "x"],
  ["<span id=weather_1>x</span>", "x"],
  ["<span id='Weather_1'>x</span>", "x"],
  ["<span id='weather'>x</span>", "x"],
  ["<span id='a_1' id='b_2'>x</span>", "<span id='a_1'>x</span>"],
  ["x</span>y", "xy"],
  ["<span>a</span></span>b", "ab"],
  ["<span id='a_1'>a <span class=x>b</span> c</span> d", "<span id='a_1'>a b c</span> d"],
  ["<span id='a_1'><span>a <span>b</span></span> c</span> d</span>", "<span id='a_1'>a b c</span> d"],
  ["<span class=x><span id='a_1'>a</span> b</span> c", "<span id='a_1'>a</span> b c"],
  ["<span id='a_1'>a <span id='b_2'>b</span> c</span> d", "<span id='a_1'>a <span id='b_2'>b</span> c d"],
  ["<span id='a_1'>a <span>`</span>` b</span> c</span>", "<span id='a_1'>a `</span>` b c</span>"],
  ["<span id='a_1'>open", "<span id='a_1'>open"],
])

testRows("CL11", [
  ["<div>a</div><div>b</div>", "a b"],
  ["<DIV class=x>a</DIV ><section><article>1</article>", "a 1"],
  ["a<img src=x>b<button>c</button>d", "a b c d"],
  ["a <div>b</div>\n<div>c</div>", "a b\nc"],
  ["**<div>a</div>**", "**a**"],
  ["`a`<div>b</div>(<p>c</p>)", "`a`b(<p>c</p>)"],
  ["f<font>oo</font>b<time>ar</time>", "foobar"],
  ["你<div>好</div>", "你 好"],
])

testRows("CL12", [
  ["    <script>x</script>", "    &lt;script>x&lt;/script>"],
  ["\t<iframe src=x></iframe>", "\t&lt;iframe src=x>&lt;/iframe>"],
  ["a\n     x = '<video>'\nb <video></video>c", "a\n     x = '&lt;video>'\nb c"],
  ["   <script>x</script>y", "   y"],
  ["    <b class=x>y</b> <span class=x>z</span>", "    <b>y</b> z"],
  ["    <span id='a_1' class=x>y</span>", "    <span id='a_1'>y</span>"],
  ["  <!-- x -->  <script>y</script>", "    &lt;script>y&lt;/script>"],
  ["```\n    <div>\n```\n<div>x", "```\n    <div>\n```\nx"],
])

const SWALLOWED = "script style iframe object embed noscript template svg math textarea title".split(" ")

test.each(SWALLOWED)("[CL3] <%s> is removed with its content, or is treated as text", (name) => {
  expectClean(`a<${name} x=y>in <b>it</b></${name}>b`, "ab")
  expectClean(`a<${name}>b`, `a&lt;${name}>b`)
  expectClean(`</${name}>b`, "b")
})

test("[CL3] a closing tag may end up to MAX_PENDING_CHARS after the `<`, and no further", () => {
  const within = `<script>${"x".repeat(MAX_PENDING_CHARS - 17)}</script>`
  expect(within.length).toBe(MAX_PENDING_CHARS)
  expect(clean(within)).toBe("")
  expect(cleanChunks(within.split(""))).toBe("")
  const beyond = `<script>${"x".repeat(MAX_PENDING_CHARS - 16)}</script>`
  expect(clean(beyond)).toBe(`&lt;${beyond.slice(1, -9)}`)
  expect(cleanChunks(beyond.split(""))).toBe(clean(beyond))
})

testRows("CL3", [
  ["raw <script>alert(1)</script> does not", "raw  does not"],
  ["<SCRIPT>a</script\n>b", "b"],
  ["<svg/>x</svg>", "x"],
  ["<script/>x", "&lt;script/>x"],
])

testRows("CL4", [
  ["<div class=x>in <a href=y>it</a></div>", "in it"],
  ["<img src=x onerror=alert(1)>x", "x"],
  ['<a title="<script>">x</a>', "x"],
  ["<h5>x</h5>", "x"],
  ["a<!-- b -->c<!-->d<!doctype html>e<?php f ?>g<![CDATA[h]]>i", "acdegi"],
  ["<!-- a", "&lt;!-- a"],
  ["<!foo>", "&lt;!foo>"],
])

testRows("CL5", [
  ["Array<T> of Map<string, T[]>", "Array&lt;T> of Map&lt;string, T[]>"],
  ["<your-name> </T> run <command>", "&lt;your-name> &lt;/T> run &lt;command>"],
  ["a < b, 1 <2, a<, <", "a < b, 1 <2, a<, <"],
  ["I </3 you", "I &lt;/3 you"],
  ["<https://x.y/z?a=b> <mailto:a@b.c> <tel:1> <a@b.c>", "<https://x.y/z?a=b> <mailto:a@b.c> <tel:1> <a@b.c>"],
  ["<javascript:x> <ftp://a> <http://`>", "&lt;javascript:x> &lt;ftp://a> &lt;http://`>"],
  ["<i", "&lt;i"],
  ["<b <i>", "&lt;b <i>"],
  ["&lt;b&gt; &amp;", "&lt;b&gt; &amp;"],
])

test("[CL5] the model receives the text that it wrote, except for code", () => {
  expect(cleanToModel(clean("Array<T> `Array<T>` a < b"))).toBe("Array<T> `Array<T>` a < b")
  expect(cleanToModel("&lt;T> `&lt;T>` &lt; b\n```\n&lt;T>\n```\n&lt;/T>")).toBe(
    "<T> `&lt;T>` &lt; b\n```\n&lt;T>\n```\n</T>",
  )
  expect(cleanToModel("plain")).toBe("plain")
})

testRows("CL6", [
  ["`<div>` <div>", "`<div>` "],
  ["``a ` <i x>`` <i x>", "``a ` <i x>`` <i>"],
  ["```\n<script>\n\u0001\n```\n<div>x", "```\n<script>\n\u0001\n```\nx"],
  ["~~~ <x>\n<b y>\n~~~\n<b y>", "~~~ <x>\n<b y>\n~~~\n<b>"],
  ["> ```\n> <b x>\n<b x>", "> ```\n> <b x>\n<b>"],
  ["    <b x>", "    <b>"],
  ["`a\n\n<b x>`", "`a\n\n<b>`"],
  ["\\<b> \\\\<b x> \\< b \\`<b x>`", "&lt;b> \\\\<b> \\< b \\`<b>`"],
  ["```a`<b x>\n", `${WJ}\`\`\`a\`<b>\n`],
])

testRows("CL7", [
  ["a\r\nb\rc\n", "a\nb\nc\n"],
  ["a\u0000b\u0007c\u000bd\te\u007f", "abcd\te\u007f"],
  ["a\u202eb\u202dc", "abc"],
  ["a\ud800b \ud83d\ude00 \udc00", "a\ufffdb \ud83d\ude00 \ufffd"],
  ["`\ud800\u0001`", "`\ufffd\u0001`"],
  ["\r", "\n"],
  ["\ud83d", "\ufffd"],
])

test.each([
  ["a tag", "<b ", "x", ">"],
  ["a quoted value", "<b x='", "y", "'>"],
  ["a comment", "<!--", "x", "-->"],
  ["inline code", "`", "<b x> ", "`"],
  ["an autolink", "<https://", "x", ">"],
])(
  "[CL8] %s over MAX_PENDING_CHARS is treated as text, whether it arrives whole or in fragments",
  (_, open, fill, close) => {
    const available = MAX_PENDING_CHARS - open.length - close.length
    const fits = open + fill.repeat(Math.floor(available / fill.length)) + close
    const over = open + fill.repeat(Math.floor(available / fill.length) + 1) + close
    expect(clean(fits)).not.toMatch(/^(&lt;|\\)/)
    expect(clean(over)).toMatch(/^(&lt;|\\)/)
    for (const raw of [fits, over]) {
      expect(cleanChunks(raw.split(""))).toBe(clean(raw))
      expect(clean(clean(raw))).toBe(clean(raw))
    }
  },
)

test("[CL8] the buffer stays small for any input", () => {
  for (const unit of ["<a b='", "<script>", "<!--", "`a\n", "```x", "> ", "\\", "~", "`", "<b\n> "]) {
    const cleaner = createCleaner()
    for (let i = 0; i < 4000; i++) cleaner.push(unit)
    expect(cleaner.save().held.length, unit).toBeLessThanOrEqual(3 * MAX_PENDING_CHARS)
  }
})

testRows("CL9", [
  ["`<font>`", "`<font>`"],
  ["a`` <font>`", "a`` `"],
  ["a``<font>`", `a\`\`${WJ}\``],
  ["~~<font>~\nx", `~~${WJ}~\nx`],
  ["\\<font>", "&lt;font>"],
  ["a\\\u0001`b", `a\\${WJ}\`b`],
  ["<<font>b", `<${WJ}b`],
  ["<\u0001b>", "&lt;b>"],
  ["```a`\n```<b c='`'>d", `${WJ}\`\`\`a\`\n${WJ}\`\`\`<b>d`],
  ["<font>```\n```<?`?>d", `${WJ}\`\`\`\n${WJ}\`\`\`d`],
  ['<font a ="<font\nb">c', "c"],
  ["<font>```\n<b x>", `${WJ}\`\`\`\n<b>`],
  ["it`s <font\n\n>`c <b x>`", "it`s \n\n`c <b x>`"],
  ["> ```\n<font>> <b x>", `> \`\`\`\n${WJ}> <b>`],
])

testRows("CL10", [
  ["<div\n```js\n<b x>\n```\n>", "&lt;div\n```js\n<b x>\n```\n>"],
  ["<script>\n```\ncode\n```\n</script>", "&lt;script>\n```\ncode\n```\n"],
  ["<font\n>```x\n> <b y>\n<b y>", "&lt;font\n>```x\n> <b y>\n<b>"],
  ["<!--\n- ~~~\n<b y>", "&lt;!--\n- ~~~\n<b y>"],
  ["`a\n```\n<b x>`", "`a\n```\n<b x>`"],
])

/**
 * Expects the same result wherever the text is split in two, at every 97th index. This finds errors that occur only in
 * long text.
 */
function expectLong(raw: string, expected: string): void {
  expect(clean(raw)).toBe(expected)
  expect(clean(expected), "cleaned twice").toBe(expected)
  for (let at = 0; at < raw.length; at += 97) expect(cleanChunks([raw.slice(0, at), raw.slice(at)])).toBe(expected)
}

test("[CL9] an open run is escaped if `&lt;` would push the end of its paragraph past MAX_PENDING_CHARS", () => {
  expectLong(`\`${"<T>".repeat(600)}\n\nx`, `\`${"&lt;T>".repeat(600)}\n\nx`)
  expectLong(`\`${"<T>".repeat(700)}\n\nx`, `\\\`${"&lt;T>".repeat(700)}\n\nx`)
})

test("[CL9] a long run isn't a fence once the backtick on its line is dropped", () => {
  const run = "`".repeat(MAX_PENDING_CHARS / 2 + 1)
  expectLong(`${run}<font a=\`>\nx`, `${WJ}${run}\nx`)
})

test("[CL9] a tag that starts inside an invalid one is found", () => {
  const words = `>${"w".repeat(MAX_PENDING_CHARS - 41)}`
  const gap = " ".repeat(40)
  expectLong(`<b a="${words}<i b="x" c="y"${gap}>z`, `&lt;b a="${words}<i>z`)
})

test("[CL9] an escaped run on a long line still ends the paragraph", () => {
  const gap = " ".repeat(MAX_PENDING_CHARS + 1)
  expectLong(`${gap}\`\`\`\`\n\`\`\`\`${gap}`, `${gap}\`\`\`\`\n${"\\`".repeat(4)}${gap}`)
})
