/**
 * pseudo-language.ts: a language for tests: each English text in brackets, so that a text without brackets is not
 * translated. Source: SPEC LG6.
 */

import type { FindTexts } from "./language.ts"

const textsByArea = new Map<unknown, unknown>()

/** The texts of an area, in the brackets ⟦ and ⟧. */
export const findPseudoTexts: FindTexts = (_area, english) => {
  const known = textsByArea.get(english) ?? bracket(english)
  textsByArea.set(english, known)
  return known as typeof english
}

function bracket(value: unknown): unknown {
  if (typeof value === "string") return `⟦${value}⟧`
  if (typeof value === "function") return (...args: unknown[]) => bracket(value(...args))
  if (Array.isArray(value)) return value.map(bracket)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, bracket(inner)]))
}
