/** markdown-math.test.tsx: formulas as MathML, and hostile formulas. */

import { type ComponentChildren, isValidElement, render } from "preact"
import { beforeAll, describe, expect, test } from "vitest"
import { mathTypesetter } from "../../client/markdown/blocks/deferred-tools.ts"
import { Markdown } from "../../client/markdown/markdown.tsx"
import { typesetMath } from "../../client/markdown/math/typeset-math.tsx"
import { copySelection } from "../../client/media/loading/copy-selection.ts"
import { draw, until } from "./dom.ts"
import { REFUSED_TEX, TRICKY_TEX } from "./hostile-tex.ts"

beforeAll(async () => {
  await mathTypesetter.load()
})

async function renderText(text: string): Promise<HTMLElement> {
  const root = draw(<Markdown text={text} />)
  await until(() => expect(root.querySelector("math")).not.toBe(null))
  return root
}

describe("formulas", () => {
  test.each([
    ["\\(a^2\\)", false],
    ["$$a^2$$", true],
    ["\\[a^2\\]", true],
    ["\\[\n\\sqrt{a} \\ge\n- b\n\\]", true],
  ])("[MD12] %j becomes MathML", async (text, isDisplay) => {
    const root = await renderText(`Let\n\n${text}\n\nbe.`)
    const math = root.querySelector("math")
    expect(math?.namespaceURI).toBe("http://www.w3.org/1998/Math/MathML")
    expect(math?.getAttribute("display") === "block").toBe(isDisplay)
    expect(root.querySelector(".math")?.getAttribute("data-tex")).toBe(text)
    expect(root.textContent).not.toContain("\\")
    render(null, root)
  })

  test("[MD12] the `<` that the server escaped is an operator again", async () => {
    const root = await renderText("\\(a&lt;b\\)")
    expect([...root.querySelectorAll("mo")].map((element) => element.textContent)).toEqual(["<"])
    render(null, root)
  })

  test.each(["It costs $5 and $6.", "$a$", "$ 5 $", "US$5, US$6", "`$$a$$`"])("[MD12] %j is not a formula", (text) => {
    const root = draw(<Markdown text={text} />)
    expect(root.querySelector(".math, math")).toBe(null)
    expect(root.textContent).toBe(text.replaceAll("`", ""))
    render(null, root)
  })

  test.each(["\\(\\frac{a}\\)", "\\[\\unknown{x}\\]", "$$\\left( x$$", "\\(\\def\\a{x}\\a\\)"])(
    "[MD12] %j can't be typeset and is shown as it was written",
    (text) => {
      const root = draw(<Markdown text={text} />)
      expect(root.querySelector(".math, math")).toBe(null)
      expect(root.textContent).toBe(text)
      render(null, root)
    },
  )

  test("[MD12] a copied selection contains the TeX of its formulas", async () => {
    const root = await renderText("Let \\(a^2\\) be.")
    document.body.append(root)
    const selection = getSelection()
    selection?.selectAllChildren(root)
    const copied = new Map<string, string>()
    const event = Object.assign(new Event("copy"), {
      clipboardData: { setData: (type: string, data: string) => void copied.set(type, data) },
    })
    copySelection(event as unknown as ClipboardEvent)
    expect(copied.get("text/plain")).toContain("Let \\(a^2\\) be.")
    selection?.removeAllRanges()
    render(null, root)
  })
})

describe("hostile formulas", () => {
  const ELEMENT = /^(?:math|m[a-z]+|none)$/
  const ATTRIBUTE =
    /^(?:class|display|displaystyle|scriptlevel|math(?:variant|color|background|size)|fence|form|stretchy|separator|[lr]space|largeop|movablelimits|symmetric|accent(?:under)?|(?:min|max)size|linethickness|width|height|depth|voffset|(?:column|row)(?:align|spacing|lines|span)|notation)$/

  const STYLE =
    /^(?:color|textAlign|width|padding(?:Top|Right|Bottom|Left)?|marginLeft|border(?:Top|Right|Bottom|Left)?|fontWeight|mathDepth)$/

  /** Returns the elements and attributes that a formula must not contain. */
  function findForbidden(node: ComponentChildren): string[] {
    if (Array.isArray(node)) return node.flatMap(findForbidden)
    if (!isValidElement(node)) return []
    const { children, style, ...attributes } = node.props as Record<string, ComponentChildren>
    const isBad = ([name, value]: [string, unknown], names: RegExp): boolean => {
      const isFar = [...String(value).matchAll(/\d+(?:\.\d+)?/g)].some(([number]) => Number(number) > 1_000)
      return !names.test(name) || /url|script:|position|expression|owned/i.test(String(value)) || isFar
    }
    const bad = [
      ...Object.entries(attributes).filter((entry) => entry[1] !== undefined && isBad(entry, ATTRIBUTE)),
      ...Object.entries(style ?? {}).filter((entry) => isBad(entry, STYLE)),
    ].map((entry) => entry.join("="))
    return [...(ELEMENT.test(String(node.type)) ? [] : [String(node.type)]), ...bad, ...findForbidden(children)]
  }

  test("[MD13] there are at least 100 hostile formulas", () => {
    expect(new Set([...REFUSED_TEX, ...TRICKY_TEX]).size).toBeGreaterThanOrEqual(100)
  })

  test.each(REFUSED_TEX)("[MD13] %j isn't typeset", (tex) => {
    expect(typesetMath(tex, true)).toBe(null)
    expect(typesetMath(`x + ${tex}`, false)).toBe(null)
  })

  test.each(TRICKY_TEX.map((tex) => [tex.slice(0, 60), tex] as const))(
    "[MD13] %j becomes only MathML of bounded size, or nothing",
    (_name, tex) => {
      expect(findForbidden(typesetMath(tex, true))).toEqual([])
      expect(findForbidden(typesetMath(tex, false))).toEqual([])
    },
  )

  test.each(["\\hspace{-1e+21em}", "\\hspace{100em}", "\\hspace{-1000000000000000000000000em}", "\\rule{1em}{99in}"])(
    "[MD13] %j produces no large length",
    (tex) => {
      const printed = JSON.stringify(typesetMath(tex, false)) ?? ""
      expect(printed).not.toMatch(/\de[+-]?\d|(?:2[1-9]|[3-9]\d)em|\d{3,}(?:em|in)|99in/)
    },
  )

  test("[MD13] 1 MB of TeX is not a formula, and 100 KB of formulas are typeset in slices", async () => {
    const long = `\\(${"\\frac{a}{b}".repeat(100_000)}\\)`
    const root = draw(<Markdown text={long} />)
    expect(root.querySelector("math")).toBe(null)
    render(null, root)
    const many = draw(<Markdown text={"\\(x_1\\)\n\n".repeat(600)} />)
    await until(() => expect(many.querySelectorAll("math").length).toBeGreaterThan(100))
    render(null, many)
  })
})
