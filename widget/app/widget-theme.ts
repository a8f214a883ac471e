/**
 * widget-theme.ts: shows the tenant's theme in the widget. Loaded on demand, before the initial render. Source: SPEC
 * TH7.
 */

import { showTheme } from "../../client/ui/preferences/show-theme.ts"
import type { WidgetEnvironment } from "./widget-environment.ts"

/**
 * How long the initial render waits for the theme, in milliseconds. It doesn't wait for any other part of the settings.
 * SPEC TH7.
 */
const MAX_THEME_WAIT_MS = 2_000

/**
 * Waits until the theme is shown. Rejects if the settings can't be loaded. A theme that arrives too late is still
 * shown.
 */
export async function waitForTheme({ api, origin }: WidgetEnvironment, box: HTMLElement): Promise<void> {
  const shown = api.getSettings().then(({ theme }) => {
    if (theme !== undefined) showTheme(box, theme, origin)
  })
  await Promise.race([shown, new Promise((resolve) => setTimeout(resolve, MAX_THEME_WAIT_MS))])
}
