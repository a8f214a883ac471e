/** load-language.ts: loads the files that contain a language's strings. English needs none. Source: SPEC LG2. */

import type { FindTexts, Language } from "./language.ts"
import type { PageWords, Words } from "./words.ts"

/** A language of the page, or the pseudo-language, which shows what isn't translated. */
export type LoadableLanguage = Language | "en-XA"

interface LanguageModule {
  readonly default: PageWords
  /** Each file contains the strings of some areas. */
  loadMore(): Promise<readonly { readonly default: Partial<Words> }[]>
}

const LOADERS: Readonly<Record<Exclude<Language, "en">, () => Promise<LanguageModule>>> = {
  de: () => import("./page/page-de.ts"),
  fr: () => import("./page/page-fr.ts"),
  es: () => import("./page/page-es.ts"),
  "pt-BR": () => import("./page/page-pt-br.ts"),
  ja: () => import("./page/page-ja.ts"),
  "zh-Hans": () => import("./page/page-zh-hans.ts"),
  hi: () => import("./page/page-hi.ts"),
  ar: () => import("./page/page-ar.ts"),
  he: () => import("./page/page-he.ts"),
}

/**
 * Loads the strings of the page itself, and calls `onTexts`. Then loads the others, and calls it again; until then they are
 * English. Throws if the first file can't be loaded.
 */
export async function loadTexts(
  language: Exclude<LoadableLanguage, "en">,
  onTexts: (findTexts: FindTexts) => void,
): Promise<void> {
  if (language === "en-XA") return onTexts((await import("./pseudo-language.ts")).findPseudoTexts)
  const page = await LOADERS[language]()
  onTexts(toFinder(page.default))
  const addMore = async (): Promise<void> => {
    const more = await page.loadMore()
    onTexts(toFinder(Object.assign({}, page.default, ...more.map((file) => file.default))))
  }
  // Without the others, the page stays usable.
  addMore().catch(() => {})
}

function toFinder(words: Partial<Words>): FindTexts {
  // The caller passes the area's own English texts, so both have the same type.
  return <T>(area: keyof Words, english: T) => (words[area] ?? english) as T
}
