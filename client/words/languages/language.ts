/**
 * language.ts: the page's languages, the chosen language, and its texts. Pure, except for the choice.
 *
 * The English texts are in the modules that use them. A file per other language has all its texts and is loaded when the
 * language is chosen. Source: SPEC LG1 to LG3.
 */

import { signal } from "@preact/signals"
import { ownTexts } from "../tenant-look.ts"
import type { Words } from "./words.ts"

/** The English texts are the source of the others. */
export const LANGUAGES = ["en", "de", "fr", "es", "pt-BR", "ja", "zh-Hans", "hi", "ar", "he"] as const

export type Language = (typeof LANGUAGES)[number]

export type Area = keyof Words

/** Finds the strings of an area. `english` contains its English strings. */
export type FindTexts = <T>(area: Area, english: T) => T

/** The language of the texts and of the formats, as a BCP 47 tag with the reader's region, such as "de-AT". */
export const formatLocale = signal("en")

export const findEnglishTexts: FindTexts = (_area, english) => english

/** Replaced when another language has been loaded. */
export const findTexts = signal(findEnglishTexts)

/**
 * Returns the strings of an area in the chosen language. They are looked up at each access, so a component that reads a text
 * renders again when the language changes. Don't keep a text in a constant. A tenant's own texts come first, in all languages.
 */
/* @__NO_SIDE_EFFECTS__ */
export function translate<T extends object>(area: Area, english: T): Readonly<T> {
  return new Proxy(english, {
    get: (_english, name) =>
      Reflect.get(ownTexts.value[area] ?? {}, name) ?? Reflect.get(findTexts.value(area, english), name),
  })
}

/** Returns the direction in which a language is written. */
export function getDirection(tag: string): "ltr" | "rtl" {
  return /^(?:ar|he)\b/.test(tag) ? "rtl" : "ltr"
}

/**
 * Returns the first language of the list that the page has, or English. A tag matches by its language alone; Chinese in
 * any script or region gets the simplified texts, and Portuguese the Brazilian ones.
 */
export function matchLanguage(tags: readonly string[]): Language {
  for (const tag of tags) {
    const match = LANGUAGES.find((language) => getBase(language) === getBase(tag))
    if (match !== undefined) return match
  }
  return "en"
}

/**
 * Returns the tag for formats: the first of the reader's tags in the same language, because its region determines the
 * order of a date. Digits are always the ones from 0 to 9, as in sizes, code and the texts of answers.
 */
export function chooseLocale(language: string, tags: readonly string[]): string {
  const tag = tags.find((one) => getBase(one) === getBase(language)) ?? language
  try {
    return new Intl.Locale(tag, { numberingSystem: "latn" }).toString()
  } catch {
    return language
  }
}

function getBase(tag: string): string {
  return tag.toLowerCase().split("-")[0] === "iw" ? "he" : (tag.toLowerCase().split("-")[0] ?? "")
}
