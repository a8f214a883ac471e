/**
 * markdown-reading.test.tsx: tables and how they are copied, footnotes, alerts, and how much is redrawn when text
 * grows.
 */

import fc from "fast-check"
import { options, render, type VNode } from "preact"
import { afterEach, beforeAll, describe, expect, test } from "vitest"
import { readingTools } from "../../client/markdown/blocks/deferred-tools.ts"
import { createBlockReader } from "../../client/markdown/markdown-blocks.ts"
import { lexProse } from "../../client/markdown/markdown-lexer.ts"
import { Markdown } from "../../client/markdown/markdown.tsx"
import { lexGrownProse } from "../../client/markdown/reading/grown-prose.ts"
import { cellsToCsv, cellsToTabSeparated, readTableCells } from "../../client/markdown/reading/table-text.ts"
import { measureText, TextMeter } from "../../client/markdown/text-part.ts"
import { assertProperty } from "../support/seeded.ts"
import { draw, markdown, until } from "./dom.ts"

let root: HTMLElement | null = null
afterEach(() => {
  if (root !== null) render(null, root)
  root = null
})

function renderText(text: string): HTMLElement {
  root = draw(<Markdown text={text} />, root ?? undefined)
  return root
}

beforeAll(async () => {
  await readingTools.load()
})

describe("copies of a table", () => {
  const cellsOf = (text: string) => {
    const [table] = lexProse(text)
    if (table === undefined) throw new Error("no table")
    return readTableCells(table)
  }

  test("[MD14] CSV follows RFC 4180, without markup", () => {
    const cells = cellsOf('| a, b | **c** "d" |\n|---|---|\n| `x` \\| y | [l](https://e.x) &amp; |')
    expect(cellsToCsv(cells)).toBe('"a, b","c ""d"""\r\nx | y,l &\r\n')
    expect(cellsToTabSeparated(cells)).toBe('a, b\t"c ""d"""\nx | y\tl &')
  })

  test.each([
    ["=HYPERLINK(1)", "'=HYPERLINK(1)"],
    ["@SUM(1)", "'@SUM(1)"],
    ["＝SUM(1)", "'＝SUM(1)"],
    ["+cmd", "'+cmd"],
    ["-1+1", "'-1+1"],
    ["-3", "-3"],
    ["+1,234.5 %", "+1,234.5 %"],
    ["-€3", "-€3"],
    ["1=1", "1=1"],
  ])("[MD14] the cell %j is copied as %j, so that no spreadsheet evaluates it", (cell, copied) => {
    expect(cellsOf(`| a |\n|---|\n| ${cell} |`)[1]).toEqual([copied])
  })

  test("[MD14] a quoted formula stays quoted text for a spreadsheet", () => {
    expect(cellsToTabSeparated(cellsOf('| a |\n|---|\n| "=HYPERLINK(1)" |'))).toBe('a\n"""=HYPERLINK(1)"""')
  })

  test("[MD14] the table scrolls in its own box and has a button for each copy format", async () => {
    const shown = renderText("| a |\n|---|\n| 1 |")
    expect(shown.querySelector(".table-frame > .table[tabindex='0'] > table")).not.toBe(null)
    await until(() =>
      expect(
        [...shown.querySelectorAll(".table-tools button")].map((element) => element.getAttribute("aria-label")),
      ).toEqual(["Copy table", "Copy table as CSV"]),
    )
  })
})

describe("footnotes", () => {
  const listNotes = (shown: HTMLElement) =>
    [...shown.querySelectorAll(".footnotes li")].map((element) => element.textContent?.replace("↩", "").trim())
  const listMarks = (shown: HTMLElement) =>
    [...shown.querySelectorAll(".footnote-ref")].map((element) => element.textContent)

  test("[MD15] references are numbered in the order of the text, and the notes are listed in that order", () => {
    const shown = renderText("A[^b] b[^a] c[^b].\n\n[^a]: Note *a*\n[^b]: Note b\n    more\n\n    second\n\nEnd")
    expect(listMarks(shown)).toEqual(["1", "2", "1"])
    expect(listNotes(shown)).toEqual(["Note b\nmoresecond", "Note a"])
    expect(shown.querySelector(".footnotes em")?.textContent).toBe("a")
    expect([...shown.querySelectorAll(".prose > p")].map((element) => element.textContent)).toEqual([
      "A1 b2 c1.",
      "End",
    ])
  })

  test("[MD15] a reference without a note is shown as written, and a note without a reference is listed", () => {
    const shown = renderText("A[^x] `[^y]`\n\n[^y]: Y")
    expect(shown.querySelector("p")?.textContent).toBe("A[^x] [^y]")
    expect(listNotes(shown)).toEqual(["Y"])
    expect(markdown("[^]: a [^ b]")).toBe("<p>[^]: a [^ b]</p>")
  })

  test("[MD15] until the list is loaded, a note is shown where it was written", async () => {
    Object.assign(readingTools.module, { value: null })
    const shown = renderText("A[^1]\n\n[^1]: B")
    expect(shown.textContent).toBe("A[^1][^1]: B")
    await until(() => expect(shown.textContent).toBe("A1B↩"))
  })

  test("[MD15] a reference moves focus to its note, and the note moves focus back", () => {
    const shown = renderText("A[^1]\n\n[^1]: B")
    document.body.append(shown)
    shown.querySelector<HTMLElement>(".footnote-ref button")?.click()
    expect(document.activeElement?.getAttribute("data-footnote")).toBe("1")
    shown.querySelector<HTMLElement>(".footnotes button")?.click()
    expect(document.activeElement?.getAttribute("data-reference")).toBe("1")
  })

  test("[MD15] [MD10] the list has the direction of its notes", () => {
    const shown = renderText("A[^1]\n\n[^1]: שלום\n[^2]: B")
    expect(shown.querySelector(".footnotes ol")?.getAttribute("dir")).toBe("rtl")
    expect(shown.querySelector("[data-footnote='2']")?.getAttribute("dir")).toBe("ltr")
  })

  test("[MD15] a note that arrives later gives the references before it their number", async () => {
    renderText("A[^1] and\n\nB\n\nC")
    const shown = renderText("A[^1] and\n\nB\n\nC\n\n[^1]: D")
    await until(() => expect(listMarks(shown)).toEqual(["1"]))
    expect(shown.querySelector("p")?.textContent).toBe("A1 and")
  })
})

describe("alerts", () => {
  test.each(["Note", "Tip", "Important", "Warning", "Caution"])("[MD18] %s has an icon and its name", (name) => {
    const shown = renderText(`> [!${name.toUpperCase()}]\n> One **two**\n>\n> - three`)
    const alert = shown.querySelector(".alert")
    expect(alert?.getAttribute("data-alert")).toBe(name.toLowerCase())
    expect(alert?.querySelector(".alert-title")?.textContent).toBe(name)
    expect(alert?.querySelector("svg[aria-hidden=true]")).not.toBe(null)
    expect([...(alert?.querySelectorAll("p, li") ?? [])].map((element) => element.textContent)).toEqual([
      name,
      "One two",
      "three",
    ])
    expect(shown.querySelector("blockquote")).toBe(null)
  })

  test.each(["> [!NOTE] a", "> [!OTHER]\n> a", "> a\n> [!NOTE]", "> **[!NOTE]**\n> a"])(
    "[MD18] %j is an ordinary quote",
    (text) => {
      const shown = renderText(text)
      expect(shown.querySelector(".alert")).toBe(null)
      expect(shown.querySelector("blockquote")).not.toBe(null)
    },
  )
})

describe("text that grows", () => {
  const parts = fc.constantFrom(
    ..."- a\n|- b|\n|  c|\n\n|1. d\n|2. e|- [ ] f\n|  - g\n|---\n|* h\n|x\n|    i\n|> j\n|```\n|[^1]: k|[^1]|[^1]:|: |# l\n".split(
      "|",
    ),
    "| a | b |\n",
    "|---|---|\n",
    "| c | **d** |\n",
    "| [^1] ",
    "|",
    " |\n",
    "a | b\n--|--\n",
    "- m\n- n\n- o\n- p\n- q\n- r\n",
    "- m\n\n- n\n\n- o\n\n- p\n\n- q\n\n- r\n",
    "| a |\n|---|\n| 1 |\n| 2 |\n| 3 |\n| 4 |\n| 5 |\n| 6 |\n",
  )

  test("[MD16] [MD3] the output of tables, lists and footnotes also depends only on the text", () => {
    assertProperty(
      fc.property(fc.array(parts, { maxLength: 30 }), (all) => {
        const read = createBlockReader(() => lexGrownProse)
        let text = ""
        for (const part of all) {
          text += part
          expect(JSON.stringify(read(text))).toBe(JSON.stringify(createBlockReader()(text)))
        }
      }),
    )
  }, 120_000)

  test("[PF1] measuring text in steps gives the same result as measuring it at once", () => {
    const any = fc.array(fc.constantFrom("a", "\n", "\n\n", "  ", "- ", "12. ", "**", "é", "مر", "😀", "字", "\t"), {
      maxLength: 80,
    })
    assertProperty(
      fc.property(any, fc.integer({ min: 1, max: 2_000 }), (all, maxCost) => {
        const meter = new TextMeter(maxCost)
        let text = ""
        for (const part of all) {
          text += part
          expect(meter.measure(text)).toEqual(measureText(text, maxCost))
        }
      }),
    )
  })

  /** Returns the number of virtual nodes that an update of the text creates. */
  function countNodes(update: () => void): number {
    const before = options.vnode
    let count = 0
    options.vnode = (node: VNode) => {
      count++
      before?.(node)
    }
    update()
    options.vnode = before as typeof options.vnode
    return count
  }

  const createRow = (at: number): string => `| ${at} | **b** | \`c\` |\n`
  const createTable = (rows: number): string =>
    `| a | b | c |\n|---|---|---|\n${Array.from({ length: rows }, (_, at) => createRow(at)).join("")}`
  const createList = (items: number): string =>
    Array.from({ length: items }, (_, at) => `- item ${at} **b**\n`).join("")
  const looseList = (items: number): string => createList(items).replaceAll("\n", "\n\n")
  const createCode = (lines: number): string => `\`\`\`ts\n${"const a = 1\n".repeat(lines)}`
  const createParagraphs = (count: number): string => "one **two** three\n\n".repeat(count)

  test.each([
    ["table", createTable, "| x"],
    ["list", createList, "- x"],
    ["list of paragraphs", looseList, "- x"],
    ["code block", createCode, "let"],
    ["text", createParagraphs, "end"],
  ])("[MD16] a delta at the end of a long %s draws a few nodes, however long that is", (_name, make, delta) => {
    const costOf = (size: number): number => {
      const text = make(size)
      renderText(text)
      renderText(`${text}${delta}`)
      const cost = countNodes(() => renderText(`${text}${delta} y`))
      if (root !== null) render(null, root)
      root = null
      return cost
    }
    const [short, long] = [costOf(40), costOf(200)]
    expect(long).toBeLessThan(90)
    // One node per group of 32 parts is compared.
    expect(long - short).toBeLessThanOrEqual(6)
  })

  test.each([
    ["rows", createTable, "table"],
    ["items", createList, "list"],
    ["items", looseList, "list"],
  ])("[MD16] finished %s stay the same objects", (_name, make, type) => {
    const read = createBlockReader(() => lexGrownProse)
    const partsOf = (text: string): readonly object[] => {
      const block = read(text).find((item) => item.type === "prose" && item.token.type === type)
      return block?.type === "prose" ? (block.token.rows ?? block.token.items ?? []) : []
    }
    const before = partsOf(make(50))
    const after = partsOf(make(51))
    expect(after).toHaveLength(51)
    expect(before.slice(0, 47).every((part, at) => part === after[at])).toBe(true)
  })
})
