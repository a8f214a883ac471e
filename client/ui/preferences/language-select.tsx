/** language-select.tsx: the choice of the page's language. Each language is listed by its own name. */

import type { VNode } from "preact"
import { LANGUAGES } from "../../words/languages/language.ts"
import { sidebarText } from "../../words/page-text.ts"
import { chooseLanguage, language, type LoadableLanguage } from "./page-language.ts"

/** `onFault` is called if the texts of the chosen language can't be loaded. */
export function LanguageSelect({ onFault }: { readonly onFault: () => void }): VNode {
  const choose = async (select: HTMLSelectElement): Promise<void> => {
    const isChosen = await chooseLanguage(select.value as LoadableLanguage)
    select.value = language.peek()
    if (!isChosen) onFault()
  }
  return (
    <label class="theme">
      {sidebarText.language}
      <select value={language.value} onChange={({ currentTarget }) => void choose(currentTarget)}>
        {Object.entries(LANGUAGES).map(([tag, name]) => (
          <option key={tag} value={tag} lang={tag} dir="auto">
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
