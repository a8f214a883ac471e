/**
 * chat-element.ts: `<cuecard-chat>`, the entry that a site loads with one script tag.
 *
 * attributes, getToken → ELEMENT → shell (box, or button and panel) → conversation (app/, or a frame)
 * The module defines the element and leaves nothing else in the site: no global names, styles or cookies. Source: SPEC
 * WG5 to WG9, docs/widget.md.
 */

import {
  checkToken,
  fetchToken,
  isButton,
  OBSERVED_ATTRIBUTES,
  readLanguages,
  readOptions,
  readSession,
  readTheme,
  TokenError,
} from "./shell/element-options.ts"
import { chooseShellText } from "./shell/shell-text.ts"
import { createShell, type WidgetShell } from "./shell/widget-shell.ts"
import type { WidgetErrorCode, WidgetHost, WidgetOptions, WidgetView } from "./shell/widget-view.ts"

const NAME = "cuecard-chat"
/** Attributes that take effect without restarting the conversation. */
const LIVE_ATTRIBUTES = new Set(["session", "theme", "language"])

type GetToken = () => Promise<string> | string

class CuecardChat extends HTMLElement {
  static readonly observedAttributes = OBSERVED_ATTRIBUTES
  readonly #root = this.attachShadow({ mode: "open" })
  #getToken: GetToken | null = null
  #shell: WidgetShell | null = null
  /** Null until the conversation is needed. Rejects if it can't be shown. */
  #view: Promise<WidgetView> | null = null
  #isRestartPlanned = false

  /** Returns a token for the user who is signed in to the site. Used instead of `token-url`. */
  get getToken(): GetToken | null {
    return this.#getToken
  }

  set getToken(getToken: GetToken | null) {
    this.#getToken = typeof getToken === "function" ? getToken : null
    this.#planRestart()
  }

  connectedCallback(): void {
    // A property that was set before the element was defined hides the accessor.
    if (Object.hasOwn(this, "getToken")) {
      const { getToken } = this
      Reflect.deleteProperty(this, "getToken")
      this.#getToken = getToken
    }
    this.#planRestart()
  }

  disconnectedCallback(): void {
    // An element that is moved is connected again before the microtask runs.
    queueMicrotask(() => {
      if (!this.isConnected) this.#stop()
    })
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || this.#shell === null) return
    if (!LIVE_ATTRIBUTES.has(name)) return this.#planRestart()
    this.#applyAppearance()
    if (name === "session") this.#withView((view) => view.openSession(readSession(this)))
    if (name === "theme") this.#withView((view) => view.setTheme(readTheme(this)))
    if (name === "language") this.#withView((view) => view.setLanguages(readLanguages(this)))
  }

  /** Opens the panel. Does nothing in the inline layout. */
  open(): void {
    const isOpened = this.#shell?.open() ?? false
    if (!isOpened) return
    this.focus()
    this.#dispatch("open", {})
  }

  /** Closes the panel. The conversation continues. */
  close(): void {
    if (this.#shell?.close() === true) this.#dispatch("close", {})
  }

  /** Sends a message in the open conversation, or starts a new one with it. */
  send(text: string): void {
    if (typeof text === "string" && text.trim() !== "") this.#withView((view) => view.sendText(text), true)
  }

  /** Shows an empty conversation. The conversation is created when its first message is sent. */
  newSession(): void {
    this.#withView((view) => view.openSession(null), true)
  }

  /** Focuses the message box. */
  override focus(): void {
    this.#withView((view) => view.focus(), true)
  }

  /** Calls `use` with the conversation if it is loaded or being loaded. If `isNeeded` is true, loads it. */
  #withView(use: (view: WidgetView) => void, isNeeded = false): void {
    if (isNeeded && this.#shell !== null) this.#view ??= this.#loadView(this.#shell)
    // A failure has already been reported.
    this.#view?.then(use, () => {})
  }

  async #handleEscape(): Promise<void> {
    const view = await this.#view?.catch(() => null)
    if (view?.handleEscape() !== true) this.close()
  }

  /** Restarts the conversation soon, and only once for several changes. */
  #planRestart(): void {
    if (this.#isRestartPlanned) return
    this.#isRestartPlanned = true
    queueMicrotask(() => {
      this.#isRestartPlanned = false
      if (this.isConnected) this.#start()
    })
  }

  #start(): void {
    this.#stop()
    const hasButton = isButton(this)
    this.#shell = createShell(this.#root, hasButton, {
      onToggle: () => (this.#shell?.isOpen === true ? this.close() : this.open()),
      onEscape: () => void this.#handleEscape(),
    })
    this.#applyAppearance()
    if (!hasButton) this.#view = this.#loadView(this.#shell)
  }

  #stop(): void {
    this.#view?.then((view) => view.dispose()).catch(() => {})
    this.#view = null
    this.#shell = null
    this.#root.replaceChildren()
  }

  #applyAppearance(): void {
    this.#shell?.applyTheme(readTheme(this))
    this.#shell?.applyLanguages(readLanguages(this))
  }

  async #loadView(shell: WidgetShell): Promise<WidgetView> {
    const options = readOptions(this, import.meta.url)
    try {
      if (options === null) throw new TypeError("The url isn't a valid URL.")
      const view = await this.#createView(shell, options)
      if (this.#shell !== shell) view.dispose()
      return view
    } catch (error) {
      if (this.#shell === shell) {
        this.#view = null
        this.#dispatchError(error)
      }
      throw error
    }
  }

  async #createView(shell: WidgetShell, options: WidgetOptions): Promise<WidgetView> {
    const host = this.#createHost(shell)
    if (this.hasAttribute("isolate")) {
      const { createFrame } = await import("./shell/widget-frame.ts")
      const { name } = chooseShellText(options.languages)
      return await createFrame(shell.box, name, options, host)
    }
    const { mountConversation } = await import("./app/mount-conversation.tsx")
    return await mountConversation(this.#root, shell.box, options, host)
  }

  #createHost(shell: WidgetShell): WidgetHost {
    const isShown = (): boolean => this.#shell === shell
    return {
      getToken: () => this.#requestToken(),
      emit: (name, detail) => {
        if (!isShown()) return
        if (name === "message") shell.markUnread()
        this.#dispatch(name, detail)
      },
      requestClose: () => {
        if (isShown()) this.close()
      },
    }
  }

  async #requestToken(): Promise<string> {
    const tokenUrl = this.getAttribute("token-url")
    if (this.#getToken !== null) return checkToken(await this.#getToken())
    if (tokenUrl === null) throw new TokenError(false)
    return await fetchToken(tokenUrl)
  }

  #dispatchError(error: unknown): void {
    const { message, code } = Object(error) as { readonly message?: string; readonly code?: WidgetErrorCode }
    const known = error instanceof TokenError ? (error.isRefused ? "token_refused" : "token_failed") : code
    this.#dispatch("error", { code: known ?? "code_failed", text: message ?? "" })
  }

  #dispatch(name: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(`cuecard-${name}`, { detail, bubbles: true, composed: true }))
  }
}

// The script may be loaded twice.
if (customElements.get(NAME) === undefined) customElements.define(NAME, CuecardChat)
