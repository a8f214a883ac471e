/**
 * theme-head.ts: a theme in the form in which a page shows it. The server writes it into the page's HTML as JSON, for the
 * script that runs before the first paint (public/theme.js). Pure. Source: SPEC TH4.
 */

import type { PageTheme } from "./page-theme.ts"
import { type ThemeProperties, themeToProperties } from "./theme-properties.ts"

export interface ThemeHead {
  readonly properties: ThemeProperties
  /** The texts that replace those of the page, by area and name (client/words). */
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
        // The product's hint names things that this tenant's agents may not do.
        ...(welcome === "" && suggestions.length === 0 ? {} : { hint: "" }),
      },
    },
    logo,
  }
}

/**
 * Returns JSON in which only characters are left that mean nothing in HTML, except quotation marks. The writer of the
 * attribute replaces those.
 */
export function themeToHeadJson(theme: PageTheme): string {
  return JSON.stringify(createThemeHead(theme)).replace(
    /[&<>'`\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}
