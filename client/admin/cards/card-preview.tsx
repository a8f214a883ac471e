/**
 * card-preview.tsx: draws a template with sample data, in a chosen language, exactly as the card would look in a
 * conversation.
 */

import { useSignal } from "@preact/signals"
import { render, type VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { CardTemplate } from "../../../shared/card/view/card-template.ts"
import type { Json } from "../../../shared/json.ts"
import { loadCards } from "../../cards/card-registry.tsx"
import { renderCard } from "../../cards/view/view-card.tsx"
import { iconPaths } from "../../cards/view/view-icon.tsx"
import { viewControls } from "../../cards/view/view-nodes.tsx"
import { keepView } from "../../cards/view/view-source.ts"
import { mediaViews } from "../../media/loading/deferred-media.ts"
import { cardsText } from "../../words/admin/cards-text.ts"
import { findEnglishTexts, findTexts, formatLocale, getDirection, LANGUAGES } from "../../words/languages/language.ts"
import type { Language, FindTexts } from "../../words/languages/language.ts"
import { loadTexts } from "../../words/languages/load-language.ts"
import { SelectField } from "../form-fields.tsx"
import { createCardSheets } from "./card-preview-styles.ts"

/** The name under which the previewed template is kept. No stored template version has this hash. */
const REFERENCE = `preview@${"0".repeat(32)}`

/** The areas of UI text that appear in cards. All other text is in English, like the admin page. */
const CARD_AREAS: readonly string[] = ["view", "card", "chart", "media", "mediaKind"]

/** The name of each language, in that language. */
const LANGUAGE_NAMES = Object.fromEntries(
  LANGUAGES.map((language) => [
    language,
    new Intl.DisplayNames(language, { type: "language" }).of(language) ?? language,
  ]),
) as Record<Language, string>

/** Returns the language of the preview, and the function that changes it. Leaving the section resets it to English. */
function useReaderLanguage(): { readonly language: Language; readonly choose: (language: Language) => void } {
  const chosen = useSignal<Language>("en")
  const choose = (language: Language): void => {
    chosen.value = language
    formatLocale.value = language
    findTexts.value = findEnglishTexts
    if (language === "en") return
    const showTexts = (find: FindTexts): void => {
      if (chosen.peek() !== language) return
      findTexts.value = (area, english) => (CARD_AREAS.includes(area) ? find(area, english) : english)
    }
    // Without a connection, the labels remain in English.
    loadTexts(language, showTexts).catch(() => {})
  }
  useEffect(() => () => choose("en"), [])
  return { language: chosen.value, choose }
}

interface CardPreviewProps {
  /** The latest template without a problem; null if there has been none yet. */
  readonly template: CardTemplate | null
  readonly sample: number
  /** Whether an older template is shown because the current one has a problem. */
  readonly isOld: boolean
}

export function CardPreview({ template, sample, isOld }: CardPreviewProps): VNode {
  const { language, choose } = useReaderLanguage()
  return (
    <section class="card-result" aria-label={cardsText.result}>
      <div class="card-result-head">
        <h3>{cardsText.result}</h3>
        <SelectField label={cardsText.language} value={language} options={LANGUAGE_NAMES} onChange={choose} />
      </div>
      {template === null ? (
        <p class="pending">{cardsText.noResult}</p>
      ) : (
        <CardBox template={template} sample={sample} language={language} isOld={isOld} />
      )}
      {isOld && template !== null && <p class="row-note">{cardsText.oldResult}</p>}
      {template?.view.some(({ component }) => component === "Image") === true && (
        <p class="row-note">{cardsText.imagesHint}</p>
      )}
      {template?.actions !== undefined && <p class="row-note">{cardsText.buttonsHint}</p>}
    </section>
  )
}

interface CardBoxProps extends CardPreviewProps {
  readonly template: CardTemplate
  readonly language: Language
}

function CardBox({ template, sample, language, isOld }: CardBoxProps): VNode {
  const hostRef = useRef<HTMLDivElement>(null)
  const boxRef = useRef<HTMLElement | null>(null)
  useEffect(() => {
    // Loaded in advance, because the page may be offline when the first chart, image, icon or field is drawn.
    void mediaViews.load()
    void loadCards()
    void viewControls.load()
    void iconPaths.load()
    const box = openBox(hostRef.current)
    boxRef.current = box
    return () => box !== null && render(null, box)
  }, [])
  useEffect(() => {
    const { current: box } = boxRef
    if (box === null) return
    box.lang = language
    box.dir = getDirection(language)
    keepView(REFERENCE, template)
    render(<PreviewedCard payload={template.samples[sample] ?? template.samples[0] ?? null} />, box)
  }, [template, sample, language])
  return <div class="card-box" data-old={isOld ? "" : undefined} ref={hostRef} />
}

/** Returns the element around the card. A shadow root can't be removed, so an existing one is reused. */
function openBox(host: HTMLElement | null): HTMLElement | null {
  if (host === null) return null
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" })
  root.adoptedStyleSheets = createCardSheets()
  const box = host.ownerDocument.createElement("div")
  box.className = "transcript"
  root.replaceChildren(box)
  return box
}

function PreviewedCard({ payload }: { readonly payload: Json }): VNode | null {
  return renderCard({ payload, synthesis: "", view: REFERENCE, isFresh: false }, null)
}
