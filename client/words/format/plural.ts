/**
 * plural.ts: selects the form of a string for a count, by the rules of the language. Pure, except for the language.
 * Source: SPEC LG10.
 */

import { formatLocale, type Language } from "../languages/language.ts"
import { formatCount } from "./number-format.ts"

/** The plural categories of whole numbers in each language. A test compares them with those of `Intl.PluralRules`. */
export const PLURAL_CATEGORIES = {
  en: ["one", "other"],
  de: ["one", "other"],
  fr: ["one", "many", "other"],
  es: ["one", "many", "other"],
  "pt-BR": ["one", "many", "other"],
  ja: ["other"],
  "zh-Hans": ["other"],
  hi: ["one", "other"],
  ar: ["zero", "one", "two", "few", "many", "other"],
  he: ["one", "two", "other"],
} as const satisfies Readonly<Record<Language, readonly Intl.LDMLPluralRule[]>>

/** A string for each category of a language. `#` stands for the count. */
export type PluralForms<L extends Language> = Readonly<Record<"other" | (typeof PLURAL_CATEGORIES)[L][number], string>>

let rules: Intl.PluralRules | null = null
let rulesLocale = ""

/**
 * Returns the form for the count, with the count formatted for the language. If a form is missing, the code doesn't
 * compile.
 */
export function formatPlural<L extends Language>(count: number, forms: PluralForms<L>): string {
  const locale = formatLocale.value
  if (rules === null || rulesLocale !== locale) rules = new Intl.PluralRules(locale)
  rulesLocale = locale
  const known: Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string } = forms
  return (known[rules.select(count)] ?? known.other).replaceAll("#", () => formatCount(count))
}

/** 1 → "1 second", 5 → "5 seconds" */
export function formatSeconds(count: number): string {
  return formatCount(count, { style: "unit", unit: "second", unitDisplay: "long" })
}
