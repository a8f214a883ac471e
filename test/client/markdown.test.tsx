/** markdown.test.tsx: how Markdown is rendered, what it must never produce, and how long parsing may take. */

import fc from "fast-check"
import { render } from "preact"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { mediaViews } from "../../client/media/loading/deferred-media.ts"
import { mathTypesetter, readingTools } from "../../client/markdown/blocks/deferred-tools.ts"
import { createBlockReader } from "../../client/markdown/markdown-blocks.ts"
import { decodeEntities } from "../../client/markdown/html-entities.ts"
import { MAX_BLOCK_DEPTH } from "../../client/markdown/parse/block-parser.ts"
import { MAX_INLINE_MARKUP } from "../../client/markdown/parse/inline-parser.ts"
import { MAX_MATH_CHARS } from "../../client/markdown/syntax/math-syntax.ts"
import { toSafeHref } from "../../client/words/format/link-policy.ts"
import { Markdown } from "../../client/markdown/markdown.tsx"
import { segmentsToSpokenText } from "../../client/markdown/markdown-to-text.ts"
import { assertProperty } from "../support/seeded.ts"
import { delay, draw, markdown } from "./dom.ts"

await mediaViews.load()

// Text is shown without the code that is loaded on demand, which markdown-code, -math and -reading.test.tsx test. Other
// files in this process share these modules: they may have loaded the code before, and need it afterwards.
const loads = [readingTools.load, mathTypesetter.load] as const
beforeAll(() => {
  for (const module of [readingTools, mathTypesetter]) Object.assign(module, { load: async () => false })
})
beforeEach(() => {
  for (const { module } of [readingTools, mathTypesetter]) Object.assign(module, { value: null })
})
afterAll(() => {
  Object.assign(readingTools, { load: loads[0] })
  Object.assign(mathTypesetter, { load: loads[1] })
})

describe("Markdown syntax", () => {
  test.each([
    ["a **b** *c* ~~d~~ `e < f`", "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e &lt; f</code></p>"],
    ["# one\n\n## two\n\n### three\n\n###### six", "<h3>one</h3><h4>two</h4><h5>three</h5><h6>six</h6>"],
    ["<h1>one</h1><h4>four</h4>", "<div><h3>one</h3><h6>four</h6></div>"],
    ["one\ntwo  \nthree", "<p>one\ntwo<br>three</p>"],
    ["> a\n> b", "<blockquote><p>a\nb</p></blockquote>"],
    ["- a\n- b\n  - c", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"],
    ["3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
    ["- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"],
    ["a\n\n---\n\nb", "<p>a</p><hr><p>b</p>"],
    ["\\*a\\* &lt;b&gt; &amp;amp; &#8364; &nope;", "<p>*a* &lt;b&gt; &amp;amp; € &amp;nope;</p>"],
    ["Array&lt;T>", "<p>Array&lt;T&gt;</p>"],
    // Direction overrides that are written as character references.
    ["a &#8238;b&#x202D;c", "<p>a bc</p>"],
    ["`&lt;`", "<p><code>&amp;lt;</code></p>"],
    ["    indented", "<p>    indented</p>"],
  ])("[MD1] %j", (text, html) => {
    expect(markdown(text).replaceAll("\n<", "<")).toBe(html.replaceAll("\n<", "<"))
  })

  test("[MD1] tables keep their alignment as a class, and task lists keep their checkboxes", () => {
    expect(markdown("| a | b |\n|:-:|--:|\n| 1 | **2** |")).toContain(
      '<thead><tr><th class="to-center">a</th><th class="to-right">b</th></tr></thead><tbody><tr><td class="to-center">1</td><td class="to-right"><strong>2</strong></td></tr></tbody>',
    )
    const tasks = markdown("- [x] done\n- [ ] open")
    expect(tasks.match(/<input type="checkbox"/g)).toHaveLength(2)
    expect(tasks).toContain('class="task"')
  })

  test("[MD2] fenced code is its own block, with its language and exact text", () => {
    const html = markdown("before\n\n```ts title\nconst a = '<b>' // **no**\n```\nafter")
    expect(html).toContain("<span>ts</span>")
    expect(html).toContain("<code>const a = '&lt;b&gt;' // **no**</code>")
    expect(html.endsWith("<p>after</p>")).toBe(true)
    expect(markdown("~~~\nopen to the end")).toContain("<code>open to the end</code>")
  })

  test("[MD1] reference links find their target anywhere, before and after code", () => {
    const html = markdown("[a][x] and [x]\n\n```\ncode\n```\n\n[x]: https://example.com/x")
    expect(html.match(/href="https:\/\/example.com\/x"/g)).toHaveLength(2)
    expect(html).not.toContain("[x]:")
  })
})

describe("formulas", () => {
  test.each([
    ["Let \\(a^2+b*c*d\\) be *x* and \\(y_1_\\).", "<p>Let \\(a^2+b*c*d\\) be <em>x</em> and \\(y_1_\\).</p>"],
    ["\\[x = \\frac{a}{b} \\\\ \\{c\\}\\]", "<p>\\[x = \\frac{a}{b} \\\\ \\{c\\}\\]</p>"],
    ["So $$a*b*c$$ and $5 and $6.", "<p>So $$a*b*c$$ and $5 and $6.</p>"],
    ["So:\n\\[\na\n+ b\n- c\n= d\n\\]\nthen", "<p>So:</p><p>\\[\na\n+ b\n- c\n= d\n\\]</p><p>then</p>"],
    ["$$\n1. a\n> b\n$$", "<p>$$\n1. a\n&gt; b\n$$</p>"],
    ["f*g \\(a*b\\) h*i", "<p>f<em>g \\(a*b\\) h</em>i</p>"],
    ["- \\(a*b*c\\)\n- d", "<ul><li>\\(a*b*c\\)</li><li>d</li></ul>"],
    // Not formulas.
    ["\\(open *x*", "<p>(open <em>x</em></p>"],
    ["\\\\(*x*\\\\)", "<p>\\(<em>x</em>\\)</p>"],
    ["`\\(x\\)`", "<p><code>\\(x\\)</code></p>"],
    ["\\[a\n\nb\\]", "<p>[a</p><p>b]</p>"],
    [`\\(${"x".repeat(MAX_MATH_CHARS)}\\)`, `<p>(${"x".repeat(MAX_MATH_CHARS)})</p>`],
  ])("[MD9] %j", (text, html) => {
    const root = draw(<Markdown text={text} />)
    expect(
      markdown(text)
        .replace(/\n(?=<)/g, "")
        .replace(/<span class="piece">|<\/span>/g, ""),
    ).toBe(html)
    render(null, root)
  })
})

describe("text direction", () => {
  const dirOf = (text: string, selector: string) =>
    draw(<Markdown text={text} />)
      .querySelector(selector)
      ?.getAttribute("dir")

  test.each([
    ["مرحبا", "p", "auto"],
    ["# שלום", "h3", "auto"],
    ["| أ |\n|---|\n| ب |", "th", "auto"],
    ["| أ |\n|---|\n| ب |", ".table", "rtl"],
    ["| a |\n|---|\n| ب |", ".table", "ltr"],
    ["- مرحبا\n- b", "ul", "rtl"],
    ["- مرحبا\n- b", "li + li", "ltr"],
    ["1. `code` שלום", "ol", "rtl"],
    ["- [x] مرحبا", "li", "rtl"],
    ["- 1, 2\n- **שלום**", "ul", "rtl"],
    ["- 1, 2", "ul", null],
    ["- مرحبا\n- 1, 2", "li + li", null],
    ["| أ |\n|---|\n| 1 |", "td", null],
    ["1, 2", "p", null],
    ["> > مرحبا", "blockquote blockquote", "rtl"],
    ["> [مرحبا](https://example.com)", "blockquote", "rtl"],
    ["> <b>مرحبا</b>", "blockquote", "rtl"],
    ["> \\(abc\\) שלום", "blockquote", "rtl"],
    ["- a\n\n  שלום", "li p + p", "auto"],
  ])("[MD10] %j: %s is %s", (text, selector, dir) => {
    expect(dirOf(text, selector)).toBe(dir)
  })

  test("[MD10] the direction of code doesn't depend on its text", () => {
    expect(dirOf("```\nمرحبا\n```", "figure")).toBe(null)
  })
})

describe("raw HTML", () => {
  test.each([
    ["<b>a</b> <i>b</i> x<sub>2</sub> <kbd>K</kbd>", "<p><b>a</b> <i>b</i> x<sub>2</sub> <kbd>K</kbd></p>"],
    ["a<br>b<BR/>c", "<p>a<br>b<br>c</p>"],
    ["<b>open **bold**", "<p><b>open <strong>bold</strong></b></p>"],
    ["stray</b> close", "<p>stray close</p>"],
    ["<b><i>x</b>y</i>", "<p><b><i>x</i></b>y</p>"],
    ["a <span id='weather_1'>b</span> c", "<p>a b c</p>"],
    ["<ul><li>one</li></ul>", "<div><ul><li>one</li></ul></div>"],
  ])("[MD4] allowed tags become elements, and spans are invisible: %j", (text, html) => {
    expect(markdown(text)).toBe(html)
  })

  test.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<b onclick=alert(1)>x",
    "<a href='javascript:alert(1)'>x</a>",
    "<iframe src=//evil></iframe>",
    "<svg onload=alert(1)>",
    "<div>x</div>",
    "<!-- comment -->",
    "<style>*{}</style>",
    "<math><mi>x",
  ])("[MD4] any other raw HTML is shown as text: %j", (text) => {
    const root = draw(<Markdown text={text} />)
    expect(root.textContent).toBe(text)
    expect(
      root.querySelectorAll("script, img, a, iframe, svg, div div div, style, math, [onclick], [onload]"),
    ).toHaveLength(0)
    render(null, root)
  })
})

describe("links and images", () => {
  test.each([
    ["[a](https://example.com/x?y=1&amp;z=2)", "https://example.com/x?y=1&z=2"],
    ["<https://example.com/a>", "https://example.com/a"],
    ["https://example.com/b", "https://example.com/b"],
    ["[m](mailto:a@example.com)", "mailto:a@example.com"],
    ["[t](tel:+4412)", "tel:+4412"],
  ])("[MD5] %j opens %s in a new tab", (text, href) => {
    const link = draw(<Markdown text={text} />).querySelector("a")
    expect(link?.getAttribute("href")).toBe(href)
    expect(link?.getAttribute("target")).toBe("_blank")
    expect(link?.getAttribute("rel")).toBe("noopener noreferrer")
  })

  test.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "javascript&colon;alert(1)",
    "javascript&#58;alert(1)",
    "java&#10;script:alert(1)",
    "&#106;avascript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://example.com/x",
    "//example.com",
    "/relative",
    "#hash",
    "https://",
  ])("[MD5] %j isn't a link", (href) => {
    const root = draw(<Markdown text={`[words](<${href}>) and [words](${href})`} />)
    expect([...root.querySelectorAll("a")].map((a) => a.getAttribute("href"))).toEqual([])
    expect(root.textContent).toContain("words")
    expect(toSafeHref(decodeEntities(href))).toBe(null)
  })

  test("[MD6] an image is shown as its text and its host, and nothing is fetched before a click", () => {
    const root = draw(<Markdown text={"![a cat](https://example.com/cat.png) ![](data:image/png;base64,x)"} />)
    expect(root.querySelector("img")).toBe(null)
    expect(root.querySelector(".gate")?.textContent).toBe("a cat Image from example.comLoad")
    expect(root.querySelectorAll("a")).toHaveLength(0)
  })
})

describe("growing text", () => {
  const snippets = fc.constantFrom(
    ..."a|b |\n|\n\n|# h|- l|  - n|1. o|> q|```|```\n|~~~|**|*|_|`|[x]|[x]: https://e.x|(https://e.x)|<b>|</b>|<!--|-->|| c | d |\n|-|-|\n|===|---|\\|&lt;|    i|\t|![|](|\r\n|<div>|- [ ] t|https://a.b|\\(|\\)|\\[|\\[\n|\\]|$$|+ b|= c\n".split(
      "|",
    ),
  )

  test("[MD3] the output depends only on the text, not on how it grew", () => {
    const grown = fc.array(snippets, { maxLength: 40 })
    assertProperty(
      fc.property(grown, (parts) => {
        const read = createBlockReader()
        let text = ""
        for (const part of parts) {
          text += part
          expect(JSON.stringify(read(text))).toBe(JSON.stringify(createBlockReader()(text)))
        }
      }),
    )
  }, 120_000)

  test("[MD3] finished blocks aren't parsed again", () => {
    const read = createBlockReader()
    const before = read("# one\n\ntwo\n\n```\ncode\n```\n\nthree\n\nfo")
    const after = read("# one\n\ntwo\n\n```\ncode\n```\n\nthree\n\nfour")
    expect(after.map((block, at) => block === before[at])).toEqual(before.map((_, at) => at < before.length - 1))
  })

  test("[MD3] text that was shortened and rewritten is parsed again", () => {
    const read = createBlockReader()
    read("# one\n\ntwo")
    expect(JSON.stringify(read("other"))).toBe(JSON.stringify(createBlockReader()("other")))
  })
})

/** The parts that hostile text repeats, as JSON strings without quotes and with `·` for a space. */
const PARTS =
  "* _ ~ [ ] [] ` > >· < <a· & ![ [a]( \\\\ *a· a* **a ·* *_~[`< -· 1.· - #· | \\t \\n http://a www.a. a@a. `a`· *a·**b· >·a\\n " +
  '-·a\\n a··\\n ![a](b)· [a](b)· *a*· <b> <b>x</b> <!-- <? <![CDATA[ <http: [a](\\" a\\n-\\n a|b\\n:-\\n a|b\\n-|-\\n a\\n:-\\n\\n ' +
  "-·[·]·a\\n |a|b\\n|:-\\n ~~~\\n a\\n===\\n <span·id='weather_1'> a\\n\\n"

describe("hostile text", () => {
  const repeatTo100Kb = (part: string): string => part.repeat(Math.ceil(100_000 / part.length))
  const cases: readonly (readonly [string, string])[] = [
    ...PARTS.split(" ").map((part) => [part, repeatTo100Kb(JSON.parse(`"${part}"`).replaceAll("·", " "))] as const),
    ["bold inside bold", `${"**".repeat(25_000)}a${"**".repeat(25_000)}`],
    ["links inside links", `${"[".repeat(50_000)}a${"](b)".repeat(12_500)}`],
    ["a wide table", `|${"a|".repeat(25_000)}\n|${"-|".repeat(25_000)}\n|${"b|".repeat(25_000)}`],
    ["a long table", `|a|b|\n|-|-|\n${"|**x**|`y`|\n".repeat(8_000)}`],
    ["lists nested 400 deep", Array.from({ length: 400 }, (_, at) => `${"  ".repeat(at)}- a`).join("\n")],
    ["quotes nested 5,000 deep", `${">".repeat(5_000)} a`],
    ["ever deeper quotes", Array.from({ length: 400 }, (_, at) => `${">".repeat(at)}a`).join("\n")],
    ["numbered lists nested 5,000 deep", `${"1. ".repeat(5_000)}a`],
    ["ever longer runs of backticks", Array.from({ length: 440 }, (_, at) => "`".repeat(at + 1)).join(" ")],
    ["definitions", Array.from({ length: 4_000 }, (_, at) => `[d${at}]: https://example.com/${at}`).join("\n")],
    ["entities", repeatTo100Kb("&amp;&#60;")],
  ]

  test.each(cases)(
    "[MD8] 100 KB of %j neither block the parser nor overflow the stack, and no character is lost",
    (_name, text) => {
      // If it hangs, this test times out. Ordinary text of this size takes a few milliseconds.
      const read = createBlockReader()
      const blocks = read(text)
      const spoken = segmentsToSpokenText([{ type: "text", content: text }])
      expect(blocks.length).toBeGreaterThan(0)
      expect(spoken.length).toBeLessThanOrEqual(1_201)
    },
  )

  test("[MD8] text beyond the limits is shown as plain text", async () => {
    // The budget for first slices (PF2) is renewed in the next task.
    await delay()
    const stars = "a*".repeat(MAX_INLINE_MARKUP + 1)
    expect(draw(<Markdown text={stars} />).querySelector("p")?.textContent).toBe(stars)
    const deep = draw(<Markdown text={`${"> ".repeat(1_000)}deep`} />)
    expect(deep.querySelectorAll("blockquote").length).toBeLessThanOrEqual(MAX_BLOCK_DEPTH)
    expect(deep.textContent).toContain("deep")
  })
})

describe("announced text", () => {
  test("[PG17] consists of prose and the text of cards, without syntax, code, tools or thinking", () => {
    const spoken = segmentsToSpokenText([
      { type: "thinking", content: "secret" },
      {
        type: "text",
        content: "# Now\n\n**Bold** &amp; [link](https://e.x) <b>raw</b>\n\n- one\n- two\n\n```\ncode\n```",
      },
      { type: "tool", call_id: "c", name: "weather", args: "{}", status: "ok", result: "data" },
      { type: "rich", tag: "weather_1", payload: null, synthesis: "*Mild.*" },
    ])
    expect(spoken).toBe("Now Bold & link raw one two Code. Mild.")
  })
})
