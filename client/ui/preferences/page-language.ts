/**
 * page-language.ts: the page's language: the stored choice, the first of the browser's languages that the page
 * supports, or English. The choice is stored per browser. Source: SPEC LG2, LG3.
 */

import { batch, effect, type Signal, signal } from "@preact/signals"
import {
  chooseLocale,
  findEnglishTexts,
  findTexts,
  type FindTexts,
  formatLocale,
  getDirection,
  LANGUAGES,
  matchLanguage,
} from "../../words/languages/language.ts"
import { type LoadableLanguage, loadTexts } from "../../words/languages/load-language.ts"

export type { LoadableLanguage }

const STORAGE_KEY = "cuecard.language"
/**
 * How long the initial render waits for the language's strings, in milliseconds. After that, the page starts in
 * English.
 */
const MAX_WAIT_MS = 3_000

/** The chosen language. Its strings may still be loading. */
export const language: Signal<LoadableLanguage> = signal(readLanguage())

function readLanguage(): LoadableLanguage {
  try {
    const stored = localStorage.getItem(STORAGE_KEY) ?? ""
    if (isLoadable(stored)) return stored
  } catch {
    // Storage is blocked, so there is no stored choice.
  }
  return matchLanguage(navigator.languages)
}

function isLoadable(tag: string): tag is LoadableLanguage {
  return tag === "en-XA" || LANGUAGES.some((known) => known === tag)
}

/**
 * Shows the page in its language. Calls `render` at once if that is English. Otherwise, calls it when the language's
 * strings have loaded or failed to load, or after MAX_WAIT_MS, whichever comes first. Also applies a choice that is
 * made in another tab.
 */
export function startLanguage(render: () => void): void {
  effect(() => {
    const { documentElement } = document
    documentElement.lang = formatLocale.value.replace(/-u-.*/, "")
    documentElement.dir = getDirection(formatLocale.value)
  })
  addEventListener("storage", ({ key, newValue }) => {
    if (key === STORAGE_KEY && newValue !== null && isLoadable(newValue)) void showLanguage(newValue)
  })
  const isShown = showLanguage(language.peek())
  if (language.peek() === "en") return render()
  const timeout = new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))
  void Promise.race([isShown, timeout]).then(render)
}

/**
 * Changes the page's language and stores the choice. Returns false, and changes nothing, if the language's strings
 * can't be loaded.
 */
export async function chooseLanguage(chosen: LoadableLanguage): Promise<boolean> {
  const isShown = await showLanguage(chosen)
  if (!isShown) return false
  try {
    localStorage.setItem(STORAGE_KEY, chosen)
  } catch {
    // Storage is blocked: the choice lasts until the page is closed.
  }
  return true
}

let shownLanguage: LoadableLanguage = "en"

/**
 * Changes the language without storing it. Returns false if the language's strings can't be loaded. A change to English
 * takes effect before this function returns.
 */
export async function showLanguage(next: LoadableLanguage): Promise<boolean> {
  language.value = next
  try {
    const showTexts = (texts: FindTexts): void => {
      // Another language may have been chosen in the meantime.
      if (language.peek() !== next) return
      shownLanguage = next
      batch(() => {
        formatLocale.value = chooseLocale(next, navigator.languages)
        findTexts.value = texts
      })
    }
    if (next === "en") showTexts(findEnglishTexts)
    else await loadTexts(next, showTexts)
    return true
  } catch {
    if (language.peek() === next) language.value = shownLanguage
    return false
  }
}
