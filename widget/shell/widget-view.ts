/** widget-view.ts: the interface between the element and the conversation that it shows, in the page or in a frame. */

/** What the element passes to a conversation when it shows one. All values can be copied to a frame. */
export interface WidgetOptions {
  /** The server's origin, without a trailing slash. */
  readonly url: string
  /** The agent of new conversations; null for the tenant's default. */
  readonly agent: string | null
  /** The conversation to open; null for the conversation that was last open in this tab, or for a new one. */
  readonly session: string | null
  readonly theme: WidgetTheme
  /** BCP 47 tags, in order of preference. */
  readonly languages: readonly string[]
  /** Whether the title bar has a button that closes the panel. */
  readonly canClose: boolean
}

export type WidgetTheme = "system" | "light" | "dark"

/** The details of the element's events, by name without the prefix `cuecard-`. */
export interface WidgetEvents {
  /** The conversation is shown. */
  readonly ready: Record<never, never>
  /** Another conversation is open; null for a new one. */
  readonly session: { readonly session: string | null }
  /** An answer has ended, or is waiting for approval. `text` is its text without markup. */
  readonly message: { readonly session: string; readonly id: string; readonly status: string; readonly text: string }
  readonly error: { readonly code: WidgetErrorCode; readonly text: string }
}

/**
 * `token_failed`: the site returned no token. `token_refused`: the site refused to issue a token, or the server refused
 * the token. `origin_denied`: the tenant doesn't allow this site. `code_failed`: the widget's code couldn't be loaded.
 * `already_shown`: the document shows another widget.
 */
export type WidgetErrorCode = "token_failed" | "token_refused" | "origin_denied" | "code_failed" | "already_shown"

/** The functions of the element that the conversation uses. */
export interface WidgetHost {
  getToken(): Promise<string>
  emit<Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]): void
  /** The user has closed the panel from inside. */
  requestClose(): void
}

/** The functions of a conversation that the element uses. */
export interface WidgetView {
  setTheme(theme: WidgetTheme): void
  setLanguages(tags: readonly string[]): void
  /** Opens a conversation; null for a new one. */
  openSession(session: string | null): void
  sendText(text: string): void
  /** Focuses the message box. */
  focus(): void
  /** Handles the Escape key. Returns false if there was nothing to end, in which case the panel closes. */
  handleEscape(): boolean
  dispose(): void
}
