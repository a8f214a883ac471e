/** widget-styles.ts: the styles of the first view. The build adapts the page's styles to a shadow root (scripts/adapt-styles.ts). */

import base from "../../client/styles/base.css?inline"
import page from "../../client/styles/page.css?inline"
import composer from "../../client/styles/composer.css?inline"
import narrowScreen from "../../client/styles/narrow-screen.css?inline"
import bar from "../../client/styles/widget/widget-bar.css?inline"

export const FIRST_STYLES: readonly string[] = [base, page, composer, narrowScreen, bar]

/** Adds styles after those that the root has. Rules of later ones win, as in the page. */
export function addStyles(root: ShadowRoot, texts: readonly string[]): void {
  const sheets = texts.map((text) => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(text)
    return sheet
  })
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, ...sheets]
}
