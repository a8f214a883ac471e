/**
 * show-theme.ts: shows the tenant's theme where the page's HTML does not contain it: in the widget, and on a page whose
 * URL doesn't name a tenant. Loaded on demand.
 *
 * On any other page, the server writes the theme into the HTML, and public/theme.js applies it before the first paint.
 * Both this module and that script set CSS properties only through the object model, because the content security
 * policy forbids styles in HTML. Source: SPEC TH4, TH7.
 */

import { batch } from "@preact/signals"
import { createThemeHead } from "../../../shared/theme/theme-head.ts"
import type { PageTheme } from "../../../shared/theme/page-theme.ts"
import { logoUrl, ownTexts } from "../../words/tenant-look.ts"

/** Shows a theme. `origin` is the server's origin. */
export function showTheme(element: HTMLElement, theme: PageTheme, origin: string): void {
  const { properties, texts, logo } = createThemeHead(theme)
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value)
  batch(() => {
    ownTexts.value = texts
    logoUrl.value = logo === null ? null : origin + logo
  })
}
