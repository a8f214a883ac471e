/** markdown-code.test.tsx: highlighting, line numbers and the buttons of code blocks. */

import { readFileSync } from "node:fs"
import fc from "fast-check"
import { render } from "preact"
import { beforeAll, describe, expect, test, vi } from "vitest"
import { readingTools } from "../../client/markdown/blocks/deferred-tools.ts"
import { Markdown } from "../../client/markdown/markdown.tsx"
import { CodeLines, MAX_HIGHLIGHTED_CHARS } from "../../client/markdown/reading/code-lines.ts"
import { INITIAL_STATE, MAX_LINE_CHARS, tokenizeLine } from "../../client/markdown/reading/code-tokenizer.ts"
import { findLanguage, LANGUAGE_NAMES } from "../../client/markdown/reading/languages.ts"
import { assertProperty } from "../support/seeded.ts"
import { delay, draw, until } from "./dom.ts"

/** Returns the tokens of the code as `type:text`, without plain text. */
function listColours(lang: string, code: string): string[] {
  const lines = new CodeLines().read(findLanguage(lang), code)
  return lines.flatMap(({ tokens }) => tokens.flatMap(({ type, text }) => (type === null ? [] : [`${type}:${text}`])))
}

describe("tokens of code", () => {
  test.each([
    ["ts", "const a: Foo = f(1) // no", ["keyword:const", "type:Foo", "function:f", "number:1", "comment:// no"]],
    ["js", `\`a \${b + \`c\`} d\``, ["string:`a ", "meta:${", "string:`c`", "meta:}", "string: d`"]],
    ["js", 'x = /[/"]+/g / 2', ['string:/[/"]+/g', "number:2"]],
    ["js", "/* a\nb */ c()", ["comment:/* a", "comment:b */", "function:c"]],
    ["tsx", "return <Foo bar />", ["keyword:return", "function:<Foo"]],
    [
      "python",
      'def f(self):\n  """a\n  b"""\n  return None # x',
      [
        "keyword:def",
        "function:f",
        "number:self",
        'string:"""a',
        'string:  b"""',
        "keyword:return",
        "number:None",
        "comment:# x",
      ],
    ],
    ["json", '{"a": "b", "c": [1, true]}', ['name:"a"', 'string:"b"', 'name:"c"', "number:1", "number:true"]],
    [
      "rust",
      "fn f<'a>(x: &'a str) -> char { 'b' }",
      ["keyword:fn", "name:'a", "name:'a", "type:str", "type:char", "string:'b'"],
    ],
    ["sql", "SELECT a FROM t -- x", ["keyword:SELECT", "keyword:FROM", "comment:-- x"]],
    [
      "html",
      '<p class="a">x</p><script>let y</script>',
      [
        "function:<p",
        "name:class",
        'string:"a"',
        "function:>",
        "function:</p><script>",
        "keyword:let",
        "function:</script>",
      ],
    ],
    [
      "css",
      "a:hover { color: #fff; width: 2px }",
      ["function:a", "keyword::hover", "name:color", "number:#fff", "name:width", "number:2px"],
    ],
    ["sh", 'echo "hi $X" # c', ["function:echo", 'string:"hi ', "name:$X", 'string:"', "comment:# c"]],
    ["yaml", "a: true # c", ["name:a", "number:true", "comment:# c"]],
    ["diff", "+ a\n- b\n@@ 1", ["added:+ a", "removed:- b", "meta:@@ 1"]],
    ["go", "func main() { var s string }", ["keyword:func", "function:main", "keyword:var", "type:string"]],
    ["toString", "if x", []],
  ])("[MD17] %s: %j", (lang, code, expected) => {
    expect(listColours(lang, code)).toEqual(expected)
  })

  const pieces = fc.constantFrom(
    ..."` \" ' / /* */ // # \\ { } ( ) [ ] < > = $ { <!-- --> <script> </script> <style> \"\"\" ''' [[ ]] -- {- -} #= =# a b1 1.5 \n \t é 😀 @x :y !".split(
      " ",
    ),
  )
  const LANGUAGE = fc.constantFrom(...LANGUAGE_NAMES)

  test("[MD17] no character is lost or added, in any language", () => {
    assertProperty(
      fc.property(LANGUAGE, fc.array(pieces, { maxLength: 60 }), (lang, parts) => {
        const code = parts.join(parts.length % 2 === 0 ? " " : "")
        const lines = new CodeLines().read(findLanguage(lang), code)
        expect(lines.map(({ tokens }) => tokens.map(({ text }) => text).join("")).join("")).toBe(code)
      }),
    )
  })

  test("[MD17] the tokens depend only on the text, not on how it grew, and finished lines stay the same objects", () => {
    assertProperty(
      fc.property(LANGUAGE, fc.array(pieces, { maxLength: 40 }), (lang, parts) => {
        const growing = new CodeLines()
        let code = ""
        for (const part of parts) {
          const before = [...growing.read(findLanguage(lang), code)]
          const finished = code.split("\n").length - 1
          code += part
          const after = growing.read(findLanguage(lang), code)
          expect(after).toEqual(new CodeLines().read(findLanguage(lang), code))
          for (let at = 0; at < finished; at++) expect(after[at]).toBe(before[at])
        }
      }),
    )
  })

  test.each([
    "`",
    '"',
    "'",
    "/",
    "=/[",
    "\\",
    "${",
    "a-",
    "-",
    "<",
    "<!--",
    "a(",
    "  ",
    "@a",
    "{",
    "}",
    '"\\',
    "/*",
    "a:",
    "(?",
  ])("[MD17] tokenizing a long line of %j takes linear time in any language", (part) => {
    const line = part.repeat(Math.floor(MAX_LINE_CHARS / part.length))
    for (const lang of LANGUAGE_NAMES) {
      const language = findLanguage(lang)
      if (language === null) throw new Error(lang)
      // A rule that searches the rest of the line at each position would make this test time out.
      const { tokens, after } = tokenizeLine(language, line, INITIAL_STATE)
      expect(tokens.map(({ text }) => text).join("")).toBe(line)
      expect(after.length).toBeLessThan(200)
    }
  })

  test("[MD17] a line of 1 MB and code of more than 100 KB have no colours", () => {
    expect(listColours("js", `const a = "${"x".repeat(1_000_000)}"`)).toEqual([])
    expect(listColours("js", "let a\n".repeat(MAX_HIGHLIGHTED_CHARS / 6 + 1))).toEqual([])
    expect(listColours("js", `${"let ".repeat(MAX_LINE_CHARS)}\nlet a`)).toEqual(["keyword:let"])
  })
})

describe("a code block", () => {
  beforeAll(async () => {
    await readingTools.load()
    // The budget is renewed in the next task.
    await delay()
  })

  test("[MD11] [MD17] has colours, its language's name, and exactly its text", () => {
    const code = "const a = 1\n\nfunction f() {}"
    const root = draw(<Markdown text={`\`\`\`ts\n${code}\n\`\`\``} />)
    expect(root.querySelector("code")?.textContent).toBe(code)
    expect(root.querySelectorAll(".line")).toHaveLength(3)
    expect([...root.querySelectorAll(".code-keyword")].map((element) => element.textContent)).toEqual([
      "const",
      "function",
    ])
    expect(root.querySelector("figcaption span")?.textContent).toBe("TypeScript")
    render(null, root)
  })

  test("[MD11] a block that is drawn before the tools are loaded gets them afterwards", async () => {
    const loaded = readingTools.module.value
    Object.assign(readingTools.module, { value: null })
    const root = draw(<Markdown text={"```js\nlet a\n```"} />)
    expect(root.querySelector("code")?.innerHTML).toBe("let a")
    await until(() => expect(root.querySelector(".code-keyword")?.textContent).toBe("let"))
    expect(loaded).not.toBe(null)
    render(null, root)
  })

  test("[MD11] has buttons that wrap lines, number them and save the text as a file", async () => {
    const root = draw(<Markdown text={"```py\na = 1\n```"} />)
    const figure = root.querySelector("figure")
    const findButton = (label: string) => root.querySelector<HTMLButtonElement>(`[aria-label="${label}"]`)
    findButton("Line numbers")?.click()
    findButton("Wrap long lines")?.click()
    await until(() => expect(figure?.hasAttribute("data-wrapped")).toBe(true))
    expect(figure?.hasAttribute("data-numbered")).toBe(true)
    expect(findButton("Line numbers")?.getAttribute("aria-pressed")).toBe("true")
    expect(root.querySelector("code")?.textContent).toBe("a = 1")
    const saved: { name: string; href: string }[] = []
    const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
      saved.push({ name: this.download, href: this.href })
    })
    findButton("Download code")?.click()
    click.mockRestore()
    expect(saved).toMatchObject([{ name: "code.py", href: expect.stringMatching(/^blob:/) }])
    render(null, root)
  })

  test("[MD17] long code gets its colours in slices", async () => {
    const code = "let a = 1 // one\n".repeat(1_000)
    const root = draw(<Markdown text={`\`\`\`js\n${code}\`\`\``} />)
    expect(root.querySelectorAll(".line").length).toBeLessThan(900)
    await until(() => expect(root.querySelectorAll(".line").length).toBe(1_000))
    expect(root.querySelector("code")?.textContent).toBe(code.trimEnd())
    render(null, root)
  })
})

describe("colours", () => {
  const css = readFileSync("client/styles/transcript/reading.css", "utf8")
  const base = readFileSync("client/styles/base.css", "utf8")
  const computeLuminance = (hex: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const computeContrast = (first: string, second: string): number => {
    const [dark = 0, light = 0] = [computeLuminance(first), computeLuminance(second)].sort((a, b) => a - b)
    return (light + 0.05) / (dark + 0.05)
  }
  const pairs = [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, light, dark] as const,
  )

  test.each(pairs)(
    "[MD17] --%s has a contrast of at least 4.5 with the background of code in both themes",
    (_, light, dark) => {
      const [, lightGround = "", darkGround = ""] = /--sunken: light-dark\((#\w{6}), (#\w{6})\)/.exec(base) ?? []
      expect(computeContrast(light, lightGround)).toBeGreaterThanOrEqual(4.5)
      expect(computeContrast(dark, darkGround)).toBeGreaterThanOrEqual(4.5)
    },
  )
})
