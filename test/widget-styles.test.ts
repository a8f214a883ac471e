/** widget-styles.test.ts: tests how the page's style sheets are adapted to the widget's shadow root. */

import { describe, expect, test } from "vitest"
import { adaptStyles } from "../scripts/adapt-styles.ts"
import { listImports, listStyleSheets, readSource, resolveImport } from "./support/source-tree.ts"

const adapt = (css: string, file = "client/styles/a.css"): string => adaptStyles(css, file).replace(/\s+/g, " ").trim()

describe("an adapted style sheet", () => {
  test.each([
    [":root { --a: 1 }", ".cuecard { --a: 1 }"],
    [":root, :host { --a: 1 }", ".cuecard { --a: 1 }"],
    [':root[data-theme="dark"] .b { top: 0 }', '.cuecard[data-theme="dark"] .b { top: 0 }'],
    ["/* x */ html, body, #app { top: 0 }", ".cuecard, .cuecard, .cuecard { top: 0 }"],
    ["body, h1 { margin: 0 }", ".cuecard, h1 { margin: 0 }"],
    [".body, .html-x { top: 0 }", ".body, .html-x { top: 0 }"],
    [".a { margin: -0.5rem 1rem .25rem 1.5rem }", ".a { margin: -8px 16px 4px 24px }"],
    [".a { height: 40dvh; width: calc(100vw - 2rem) }", ".a { height: 40cqh; width: calc(100cqw - 32px) }"],
    ["@media (max-width: 50rem) { a { top: 0 } }", "@container cuecard (max-width: 800px) { a { top: 0 } }"],
    [".sidebar nav, .theme:is(.a, .b) { top: 0 } .a { top: 0 }", ".a { top: 0 }"],
    [".a:is(.b, .share) .c { top: 0 }", ".a:is(.b, .share) .c { top: 0 }"],
    [".a:is(.viewers, .share) .c { top: 0 } .b { top: 0 }", ".b { top: 0 }"],
    [".a:not(.sidebar) { top: 0 }", ".a:not(.sidebar) { top: 0 }"],
    [".sidebar, .a { top: 0 }", ".sidebar, .a { top: 0 }"],
    ["@media print { body { top: 0 } }", "@media print { .cuecard { top: 0 } }"],
    ["@media (hover: none) { a { top: 0 } }", "@media (hover: none) { a { top: 0 } }"],
  ])("[WG7] has an adapted rule instead of %s", (css, adapted) => {
    expect(adapt(css)).toBe(adapted)
  })

  test("[WG7] keeps viewport units for elements that fill the window", () => {
    expect(adapt(".box { width: 90vw; padding: 1rem }", "client/styles/dialog.css")).toBe(
      ".box { width: 90vw; padding: 16px }",
    )
  })

  test("[WG7] must not contain a media query that depends on the size of the site's window", () => {
    expect(() => adapt("@media (min-width: 1rem) and (max-height: 2rem) { a { top: 0 } }")).toThrow("can't adapt")
  })
})

describe("the widget's style sheets", () => {
  const files = [
    "widget/app/widget-styles.ts",
    "widget/app/conversation-styles.ts",
    "widget/app/part-styles.ts",
    "widget/app/language-styles.ts",
    "widget/shell/widget-shell.ts",
  ]
  const used = files
    .flatMap(listImports)
    .map(resolveImport)
    .filter((file) => file.includes(".css"))
    .map((file) => file.replace("?inline", ""))

  test("[WG7] are the page's style sheets, except those for the sidebar, the account, short windows and missing conversations", () => {
    const page = listStyleSheets("client").filter(
      (file) =>
        !/styles\/(?:(?:admin|search|shared-view)\/|sidebar\/(?!link-share|temporary-chat)|settings\.css|missing-conversation\.css|low-window\.css|writing\/composer)/.test(
          file,
        ),
    )
    expect(used.toSorted()).toEqual(page.toSorted())
  })

  test.each(used)("[WG7] %s names nothing outside the shadow root", (file) => {
    const css = adaptStyles(readSource(file), file)
    expect(css).not.toMatch(/:root|(?<![\w.#-])(?:html|body)(?![\w-])\s*[,{]|#app\b|\drem\b|@import|@font-face/)
  })
})
