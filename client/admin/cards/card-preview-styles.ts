/**
 * card-preview-styles.ts: the styles of the playground's result, which is in a shadow root so that the admin page's
 * styles don't apply to it.
 */

import base from "../../styles/base.css?inline"
import transcript from "../../styles/transcript/transcript.css?inline"
import notes from "../../styles/transcript/notes.css?inline"
import cards from "../../styles/transcript/cards.css?inline"
import chart from "../../styles/transcript/chart.css?inline"
import view from "../../styles/transcript/view.css?inline"
import viewForm from "../../styles/transcript/view-form.css?inline"
import pictures from "../../styles/transcript/view-pictures.css?inline"
import media from "../../styles/media/media.css?inline"
import rightToLeft from "../../styles/right-to-left.css?inline"
import forcedColors from "../../styles/print-forced-colors.css?inline"

/** The preview belongs to no conversation, so it can't load images; the buttons that load them are hidden. */
const OWN_RULES = ".gate > button { display: none }"

export function createCardSheets(): CSSStyleSheet[] {
  const texts = [
    base,
    transcript,
    notes,
    cards,
    chart,
    view,
    viewForm,
    pictures,
    media,
    rightToLeft,
    forcedColors,
    OWN_RULES,
  ]
  return texts.map((text) => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(text)
    return sheet
  })
}
