/**
 * theme-head.ts: a theme in the form that a page applies. The server writes it as JSON into the page's HTML, for the
 * script that runs before the first paint (public/theme.js). Pure. Source: SPEC TH4.
 */

import type { PageTheme } from "./page-theme.ts"
import { type ThemeProperties, themeToProperties } from "./theme-properties.ts"

export interface ThemeHead {
  readonly properties: ThemeProperties
  /** The strings that replace the page's own, by area and name (client/words). */
  readonly texts: {
    readonly [area: string]: Readonly<Record<string, string | readonly string[]>>
  }
  /** The path of the logo; null for the product's own. */
  readonly logo: string | null
}

export function createThemeHead(theme: PageTheme): ThemeHead {
  const { name, welcome, suggestions, logo } = theme
  return {
    properties: themeToProperties(theme),
    texts: {
      ...(name === "" ? {} : { app: { name } }),
      welcome: {
        ...(welcome === "" ? {} : { heading: welcome }),
        ...(suggestions.length === 0 ? {} : { examples: suggestions }),
        // The product's hint names things that this tenant's agents may be unable to do.
        ...(welcome === "" && suggestions.length === 0 ? {} : { hint: "" }),
      },
    },
    logo,
  }
}

/**
 * Returns the theme as JSON without characters that have a meaning in HTML, except double quotes. The code that writes
 * the attribute escapes double quotes.
 */
export function themeToHeadJson(theme: PageTheme): string {
  return JSON.stringify(createThemeHead(theme)).replace(
    /[&<>'`\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}
