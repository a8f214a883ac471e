/**
 * preview-styles.ts: the styles of the preview, which is in a shadow root so that the admin page's styles don't apply
 * to it.
 */

import shell from "../../styles/widget/widget-shell.css?inline"
import base from "../../styles/base.css?inline"
import page from "../../styles/page.css?inline"
import composer from "../../styles/composer.css?inline"
import bar from "../../styles/widget/widget-bar.css?inline"
import transcript from "../../styles/transcript/transcript.css?inline"
import notes from "../../styles/transcript/notes.css?inline"
import acts from "../../styles/transcript/acts.css?inline"
import prose from "../../styles/transcript/prose.css?inline"
import tables from "../../styles/transcript/tables.css?inline"
import cards from "../../styles/transcript/cards.css?inline"
import chart from "../../styles/transcript/chart.css?inline"
import rightToLeft from "../../styles/right-to-left.css?inline"

export function createPreviewSheets(): CSSStyleSheet[] {
  return [shell, base, page, composer, bar, transcript, notes, acts, prose, tables, cards, chart, rightToLeft].map(
    (text) => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(text)
      return sheet
    },
  )
}
