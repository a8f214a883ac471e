/**
 * widget-styles.ts: the styles of the initial render. The build adapts the page's styles to a shadow root
 * (scripts/adapt-styles.ts).
 */

import base from "../../client/styles/base.css?inline"
import page from "../../client/styles/page.css?inline"
import composer from "../../client/styles/composer.css?inline"
import narrowScreen from "../../client/styles/narrow-screen.css?inline"
import bar from "../../client/styles/widget/widget-bar.css?inline"

export type StyleTexts = { readonly [name in (typeof ORDER)[number]]?: string }

export const FIRST_STYLES: StyleTexts = { base, page, composer, narrowScreen, bar }

/**
 * The order of the style sheets, which is the same as on the page. Rules of later sheets take precedence, whichever
 * sheet is loaded first.
 */
const ORDER = [
  "base",
  "page",
  "composer",
  "narrowScreen",
  "bar",
  "temporaryChat",
  "dialog",
  "linkShare",
  "transcript",
  "notes",
  "toolCalls",
  "agents",
  "requests",
  "acts",
  "writing",
  "prose",
  "tables",
  "reading",
  "formulas",
  "cards",
  "chart",
  "view",
  "viewForm",
  "inputForm",
  "viewPictures",
  "sources",
  "media",
  "audio",
  "canvas",
  "canvasPanel",
  "files",
  "lightbox",
  "rightToLeft",
  "forcedColors",
] as const

const sheetsByRoot = new WeakMap<ShadowRoot, Map<string, CSSStyleSheet>>()

export function addStyles(root: ShadowRoot, texts: StyleTexts): void {
  const sheets = sheetsByRoot.get(root) ?? new Map<string, CSSStyleSheet>()
  sheetsByRoot.set(root, sheets)
  for (const [name, text] of Object.entries(texts)) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(text)
    sheets.set(name, sheet)
  }
  const ordered = ORDER.flatMap((name) => sheets.get(name) ?? [])
  const others = root.adoptedStyleSheets.filter((sheet) => !ordered.includes(sheet))
  root.adoptedStyleSheets = [...others, ...ordered]
}
