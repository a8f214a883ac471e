/** open-notified.ts: shows the conversation of a notification that the user has clicked. Source: SPEC WR34. */

/** A window of the page. Each method rejects if the browser forbids it. */
export interface PageWindow {
  readonly url: string
  focus(): Promise<unknown>
  navigate(url: string): Promise<unknown>
}

export interface PageWindows {
  matchAll(options: { readonly type: "window"; readonly includeUncontrolled: true }): Promise<readonly PageWindow[]>
  openWindow(url: string): Promise<unknown>
}

/**
 * Shows the URL with this hash, such as `#/s/<id>`, in a window that already shows it, in another window of the page,
 * or in a new one.
 */
export async function openNotified(windows: PageWindows, origin: string, hash: unknown): Promise<void> {
  const address = `${origin}/${typeof hash === "string" && hash.startsWith("#/s/") ? hash : ""}`
  const open = await windows.matchAll({ type: "window", includeUncontrolled: true })
  const page = open.find(({ url }) => url === address) ?? open.find(({ url }) => isPage(url, origin))
  try {
    if (page === undefined) return void (await windows.openWindow(address))
    await page.focus()
    if (page.url !== address) await page.navigate(address)
  } catch {
    // The browser doesn't allow the page to open or focus a window, so a click only closes the notification.
  }
}

function isPage(url: string, origin: string): boolean {
  return url === `${origin}/` || url.startsWith(`${origin}/#`)
}
