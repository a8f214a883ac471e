/** language-select.tsx: the field that selects the page's language. The name of each language is in that language. */

import type { VNode } from "preact"
import type { Language } from "../../words/languages/language.ts"
import { settingsText } from "../../words/settings/settings-text.ts"
import { chooseLanguage, language, type LoadableLanguage } from "./page-language.ts"

/** The name of each language in that language, in the order of the list. */
const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  "pt-BR": "Português (Brasil)",
  ja: "日本語",
  "zh-Hans": "简体中文",
  hi: "हिन्दी",
  ar: "العربية",
  he: "עברית",
}

/** `onFault` is called if the strings of the chosen language can't be loaded. */
export function LanguageSelect({ onFault }: { readonly onFault: () => void }): VNode {
  const choose = async (select: HTMLSelectElement): Promise<void> => {
    const isChosen = await chooseLanguage(select.value as LoadableLanguage)
    select.value = language.peek()
    if (!isChosen) onFault()
  }
  return (
    <select
      aria-label={settingsText.language}
      value={language.value}
      onChange={({ currentTarget }) => void choose(currentTarget)}
    >
      {Object.entries(LANGUAGE_NAMES).map(([tag, name]) => (
        <option key={tag} value={tag} lang={tag} dir="auto">
          {name}
        </option>
      ))}
    </select>
  )
}
