/** read-html.test.ts: tests how readable text is extracted from HTML, including hostile HTML. */

import { describe, expect, test } from "vitest"
import { cleanPageText } from "../../worker/tool/page/clean-page-text.ts"
import { readHtml } from "../../worker/tool/page/read-html.ts"

const textOf = (html: string): string => readHtml(html).text
const LONG = "A sentence that is long enough to count as content of the page. ".repeat(5).trim()

describe("readHtml", () => {
  test.each([
    ["paragraphs without end tags", "<p>a<p>b", "a\n\nb"],
    ["text outside elements", "a <div>b</div> c", "a\n\nb\n\nc"],
    ["inline elements", "<p>a<b>b</b><i> c</i>", "ab c"],
    ["references", "<p>&lt;b&gt; &amp;amp; &#65;&#x42; &eacute; &nosuchthing;", "<b> &amp; AB é &nosuchthing;"],
    ["uppercase tags", "<P>a</P><SCRIPT>b</SCRIPT><P>c", "a\n\nc"],
    ["nested lists", "<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n- b\n- c"],
    ["a definition list", "<dl><dt>a<dd>b</dl>", "a\n\nb"],
    ["a comment", "<p>a<!-- <p>b --> c", "a c"],
    ["an unclosed comment", "<p>a<!-- b", "a"],
    ["an unclosed tag", "<p>a<p class='b", "a"],
    ["a script that writes tags", "<script>'</p>' + \"<p>b\"</script><p>a", "a"],
    ["an unclosed script", "<p>a<script>b", "a"],
    ["a template", "<template><p>b</p></template><p>a", "a"],
    ["hidden elements", "<p hidden>b<p>a<div aria-hidden=true>b<div>b</div></div>", "a"],
    ["a hidden style", "<p style='color: red; DISPLAY : none'>b</p><p>a", "a"],
    ["form fields", "<form><p>a</p><select><option>b</select><textarea>b</textarea><button>b</button></form>", "a"],
    ["a drawing with a title", "<title>t</title><svg><title>b</title><text>b</text></svg><p>a", "a"],
    ["zero-width characters", "<p>a\u200b\u202eb\u{e0041}\u{e0042}</p>", "ab"],
    ["joined characters", "<p>👩‍💻 نمی‌خواهم</p>", "👩‍💻 نمی‌خواهم"],
    ["a lone surrogate", "<p>a\ud800</p>", "a\ufffd"],
    ["a cell with lines", "<table><tr><td>a<br>b<td>c</table>", "a\nb | c"],
    ["nothing", "", ""],
    ["no HTML", "just words", "just words"],
  ])("[BT6] reads %s", (_, html, text) => {
    expect(textOf(html)).toBe(text)
  })

  test("[BT6] the main part takes precedence, then articles, then everything without navigation, then everything", () => {
    expect(textOf(`<nav>menu</nav><main><p>${LONG}</p></main><p>rest</p>`)).toBe(LONG)
    expect(textOf(`<p>rest</p><article><p>${LONG}</p></article><main><p>x</p></main>`)).toBe(LONG)
    expect(textOf(`<nav>menu</nav><p>${LONG}</p><footer>foot</footer>`)).toBe(LONG)
    expect(textOf("<nav>menu</nav><p>short</p>")).toBe("menu\n\nshort")
    expect(textOf(`<nav>menu<p>${LONG}</p>`)).toContain(LONG)
  })

  test("[BT6] the title is the page's, its preview's, or its first heading", () => {
    expect(readHtml("<title> A \n B </title><h1>C</h1>").title).toBe("A B")
    expect(readHtml('<meta property="og:title" content="D &amp; E"><h1>C</h1>').title).toBe("D & E")
    expect(readHtml("<h1>C <b>d</b></h1>").title).toBe("C d")
  })

  test.each([
    ["open elements", "<div>"],
    ["open inline elements", "<b>"],
    ["closing tags", "</div>"],
    ["hidden elements", "<div hidden>"],
    ["empty cells", "<td> "],
    ["attributes", '<p style="'],
    ["ends of tags", "<"],
    ["references", "&amp"],
    ["ampersands", "&"],
    ["comments", "<!--"],
    ["declarations", "<!"],
    ["spaces", "<pre>   "],
    ["open scripts", "<script>"],
    ["almost closed scripts", "<script></scrip"],
    ["titles", "<title>a"],
    ["tabs and lines", "\t \n"],
    ["list items", "<li>a"],
    ["descriptions", '<meta name=description content="a">'],
  ])("[BT6] a megabyte of %s is read in time proportional to its size", (_, piece) => {
    const html = `<p>${piece.repeat(Math.ceil(1_048_576 / piece.length))}`
    expect(textOf(html).length).toBeLessThanOrEqual(4 * html.length)
    const spaces = `<pre>${" ".repeat(1_048_576)}x`
    expect(textOf(spaces)).toContain("x")
  })

  test("[BT6] long runs of spaces and line breaks are cleaned in one pass", () => {
    expect(cleanPageText(`${" ".repeat(1_000_000)}x`)).toHaveLength(1_000_001)
    expect(cleanPageText(`a${"\n".repeat(1_000_000)}b`)).toBe("a\n\nb")
  })
})
