/** theme-schema.ts: the schema of a request that sets a theme. Pure. Source: SPEC TH1, TH2. */

import * as v from "valibot"
import { parseColor } from "./color.ts"
import {
  DEFAULT_THEME,
  MAX_RADIUS_PX,
  MAX_SUGGESTION_CHARS,
  MAX_SUGGESTIONS,
  MAX_THEME_NAME_CHARS,
  MAX_WELCOME_CHARS,
  THEME_DENSITIES,
  THEME_FONTS,
} from "./page-theme.ts"

const colorSchema = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const color = parseColor(dataset.value)
    if (color !== null) return color
    addIssue()
    return NEVER
  }),
)

const pairSchema = v.strictObject({ light: colorSchema, dark: colorSchema })

/** Control characters, lone surrogates, and characters that reorder the text around them. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/u

/** Creates a schema for one line of plain text. */
function createLineSchema(max: number) {
  return v.pipe(
    v.string(),
    v.transform((text) => text.trim()),
    v.maxLength(max),
    v.check((text) => !UNPRINTABLE.test(text)),
  )
}

/** All fields are set together; an omitted field gets its default. Strict, so that a misspelt field is an error. */
export const themeSchema = v.strictObject({
  accent: v.optional(pairSchema, DEFAULT_THEME.accent),
  accent_text: v.optional(pairSchema, DEFAULT_THEME.accent_text),
  font: v.optional(v.picklist(THEME_FONTS), DEFAULT_THEME.font),
  radius: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_RADIUS_PX)), DEFAULT_THEME.radius),
  density: v.optional(v.picklist(THEME_DENSITIES), DEFAULT_THEME.density),
  name: v.optional(createLineSchema(MAX_THEME_NAME_CHARS), ""),
  welcome: v.optional(createLineSchema(MAX_WELCOME_CHARS), ""),
  suggestions: v.optional(
    v.pipe(
      v.array(v.pipe(createLineSchema(MAX_SUGGESTION_CHARS), v.minLength(1))),
      v.maxLength(MAX_SUGGESTIONS),
      v.transform((all) => [...new Set(all)]),
    ),
    [],
  ),
})
