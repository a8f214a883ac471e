/**
 * mount-conversation.tsx: shows the conversation in the box of a shadow root: connects the page's controllers to the
 * site, and renders the page's views. The counterpart of client/app/main.tsx. Source: SPEC WG5, WG6, WG8.
 */

import { effect, type Signal, signal } from "@preact/signals"
import { render } from "preact"
import { attachmentChips } from "../../client/composer/deferred-chips.ts"
import { RequestError } from "../../client/net/http-request.ts"
import { retryDelayMs } from "../../client/net/retry-delay.ts"
import { readUser } from "../../client/net/token-source.ts"
import { createUserStorage, type UserStorage } from "../../client/net/user-storage.ts"
import { MAX_SHOWN_MESSAGES } from "../../client/session/history-deps.ts"
import { parseSessionHash, SessionRouter } from "../../client/session/session-router.ts"
import { sessionActions } from "../../client/sidebar/deferred-actions.tsx"
import { getSpokenText, loadTranscript } from "../../client/transcript/load-transcript.ts"
import { setPreferenceStorage } from "../../client/ui/preferences/preference-storage.ts"
import { deferModule } from "../../client/ui/deferred-module.ts"
import { announceAnswerEnd } from "../../client/ui/announcer.ts"
import { focusRequests } from "../../client/ui/focus.ts"
import { setPageRoot } from "../../client/ui/page-root.ts"
import { theme } from "../../client/ui/preferences/theme.ts"
import { chooseLocale, formatLocale, getDirection, matchLanguage } from "../../client/words/languages/language.ts"
import { errorText } from "../../client/words/page-text.ts"
import type { WidgetHost, WidgetOptions, WidgetView } from "../shell/widget-view.ts"
import type { DocumentContext } from "./document-events.ts"
import { deferredViews, noticeBar, WidgetConversation } from "./widget-conversation.tsx"
import { createWidgetEnvironment, type WidgetEnvironment } from "./widget-environment.ts"
import { createOpenSessionRow, createWidgetStorage, type OpenSessionRow } from "./widget-storage.ts"
import { addStyles, FIRST_STYLES } from "./widget-styles.ts"

const conversationStyles = deferModule(() => import("./conversation-styles.ts"))
const partStyles = deferModule(() => import("./part-styles.ts"))

/** Delay before a hidden tab renders, in milliseconds. Hidden tabs have no animation frames. */
const HIDDEN_FLUSH_MS = 250

/**
 * The language, the focus and the loaded code belong to the document, so a document can show only one conversation at a
 * time.
 */
let mountedBox: HTMLElement | null = null

/** A failure that the element reports to the site. */
class WidgetError extends Error {
  readonly code: "already_shown" | "token_refused"
  constructor(code: WidgetError["code"], text: string) {
    super(text)
    this.code = code
  }
}

/** Shows the conversation in the box. Rejects with a `WidgetError` if it can't be shown. */
export async function mountConversation(
  root: ShadowRoot,
  box: HTMLElement,
  options: WidgetOptions,
  host: WidgetHost,
): Promise<WidgetView> {
  // When the element no longer uses a box, it removes it from the document.
  if (mountedBox?.isConnected === true)
    throw new WidgetError("already_shown", "The document shows another conversation.")
  mountedBox = box
  try {
    setPageRoot(root, box)
    addStyles(root, FIRST_STYLES)
    focusRequests.value = 0
    theme.value = options.theme
    const languageShown = showTexts(root, options.languages)
    const environment = createWidgetEnvironment(options, host, () => {
      box.textContent = errorText.signIn
      host.emit("error", { code: "token_refused", text: errorText.signIn })
    })
    const user = await requestUser(environment, box, host)
    // If the code or the settings can't be loaded, the conversation has the default look.
    await import("./widget-theme.ts").then(({ waitForTheme }) => waitForTheme(environment, box)).catch(() => {})
    await languageShown
    if (mountedBox !== box) throw new WidgetError("already_shown", "The element has changed.")
    box.replaceChildren()
    return showConversation(box, options, host, environment, user)
  } catch (error) {
    unmount(box)
    throw error
  }
}

/** Whether strings in a language other than English may be on the screen or are being loaded. */
let wasTranslated = false

/** Shows the strings in the language that best matches these tags. English needs no additional code. */
async function showTexts(root: ShadowRoot, tags: readonly string[]): Promise<void> {
  // The pseudo-language is for tests.
  const next = tags[0] === "en-XA" ? tags[0] : matchLanguage(tags)
  wasTranslated ||= next !== "en"
  if (!wasTranslated) {
    formatLocale.value = chooseLocale(next, navigator.languages)
    return
  }
  const [{ showLanguage }, { LANGUAGE_STYLES }] = await Promise.all([
    import("../../client/ui/preferences/page-language.ts"),
    import("./language-styles.ts"),
  ])
  addStyles(root, LANGUAGE_STYLES)
  await showLanguage(next)
}

function unmount(box: HTMLElement): void {
  if (mountedBox === box) mountedBox = null
}

/**
 * Requests the first token, and returns its user, whose stored rows the widget may read. Retries unless the site
 * refuses to issue a token.
 */
async function requestUser({ api }: WidgetEnvironment, box: HTMLElement, host: WidgetHost): Promise<string | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return readUser((await api.getToken()).token)
    } catch (error) {
      const isRefused = error instanceof RequestError && error.status < 500
      box.textContent = isRefused ? errorText.signIn : errorText.unreachable
      if (isRefused || mountedBox !== box || !box.isConnected) throw new WidgetError("token_refused", box.textContent)
      if (attempt === 1) host.emit("error", { code: "token_failed", text: box.textContent })
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs(attempt, Math.random())))
    }
  }
}

type Cleanup = () => void

function showConversation(
  box: HTMLElement,
  options: WidgetOptions,
  host: WidgetHost,
  environment: WidgetEnvironment,
  user: string | null,
): WidgetView {
  const isOnline = signal(navigator.onLine)
  const languages = signal(options.languages)
  const address = createAddress(options, createOpenSessionRow(options.url, user, options.agent))
  const rows = createWidgetStorage(options.url)
  setPreferenceStorage(rows)
  const storage = createUserStorage(rows, user)
  const router = createRouter(
    storage,
    environment,
    address,
    (status, id, text, session) => {
      announceAnswerEnd(status, text)
      host.emit("message", { session, id, status, text })
    },
    isOnline,
  )
  const openSession = (session: string | null): void => {
    address.write(session === null ? "#/" : `#/s/${session}`)
    router.openFromHash()
  }
  const openOnClick = (session: string | null): void => {
    openSession(session)
    focusRequests.value++
  }
  const root = box.getRootNode() as ShadowRoot
  const cleanups = [
    effect(() => addStyles(root, { ...conversationStyles.module.value?.CONVERSATION_STYLES })),
    effect(() => addStyles(root, { ...partStyles.module.value?.PART_STYLES })),
    effect(() => host.emit("session", { session: router.controller.value?.id ?? null })),
    effect(() => {
      box.lang = formatLocale.value.replace(/-u-.*/, "")
      box.dir = getDirection(formatLocale.value)
    }),
    listenLater({ router, environment, isOnline, box, onOpen: (hash) => openOnClick(parseSessionHash(hash)) }),
  ]
  startRouter(router, environment)
  const onClose = options.canClose ? () => host.requestClose() : null
  const props = { router, isOnline, languages, onOpen: openOnClick, onClose }
  render(<WidgetConversation {...props} />, box)
  loadRest(router)
  host.emit("ready", {})
  const dispose = (): void => {
    for (const cleanUp of cleanups) cleanUp()
    router.flushDrafts()
    router.controller.peek()?.moveToBackground()
    environment.close()
    render(null, box)
    unmount(box)
  }
  return createView(root, router, languages, openSession, dispose)
}

/**
 * Listens to the document's events once the code that handles them is loaded. This can wait, because an empty
 * conversation has no links, and `isOnline` is correct until then.
 */
function listenLater(context: DocumentContext): Cleanup {
  const listeners = new AbortController()
  void import("./document-events.ts").then(({ listenToDocument }) => listenToDocument(context, listeners.signal))
  return () => listeners.abort()
}

/** Starts the router the way the page does. */
function startRouter(router: SessionRouter, { loadSettings }: WidgetEnvironment): void {
  router.openFromHash()
  void router.restoreDrafts()
  router.resumeStored()
  void router.sessionList.refresh()
  loadSettings()
}

function createView(
  root: ShadowRoot,
  router: SessionRouter,
  languages: Signal<readonly string[]>,
  openSession: (session: string | null) => void,
  dispose: () => void,
): WidgetView {
  return {
    setTheme(next) {
      theme.value = next
    },
    setLanguages(tags) {
      languages.value = tags
      void showTexts(root, tags)
    },
    openSession(session) {
      if (session !== (router.controller.peek()?.id ?? null)) openSession(session)
    },
    sendText: (text) => router.sendMessage(text),
    focus: () => void focusRequests.value++,
    handleEscape: () => handleEscape(router),
    dispose,
  }
}

/** After the first paint, loads what the initial render doesn't need. */
function loadRest(router: SessionRouter): void {
  setTimeout(() => {
    void conversationStyles.load()
    void deferredViews.load()
    void loadTranscript()
    void partStyles.load()
    void noticeBar.load()
    void sessionActions.load()
    void attachmentChips.load()
    // If this fails, the next use tries again.
    router.loadUploads().catch(() => {})
  })
}

/** The state that the page keeps in its URL, and the widget in memory. */
interface Address {
  read(): string
  write(hash: string): void
}

function createAddress({ session }: WidgetOptions, openRow: OpenSessionRow): Address {
  const opened = session ?? openRow.read()
  let hash = opened === null ? "" : `#/s/${opened}`
  return {
    read: () => hash,
    write(next) {
      hash = next
      openRow.write(parseSessionHash(next))
    },
  }
}

type OnAnswerEnd = (status: Parameters<typeof announceAnswerEnd>[0], id: string, text: string, session: string) => void

function createRouter(
  storage: UserStorage,
  environment: WidgetEnvironment,
  address: Address,
  onAnswerEnd: OnAnswerEnd,
  isOnline: { value: boolean },
): SessionRouter {
  const router: SessionRouter = new SessionRouter({
    ...environment,
    storage,
    scheduleRender(callback) {
      if (document.hidden) setTimeout(callback, HIDDEN_FLUSH_MS)
      else requestAnimationFrame(callback)
    },
    maxShownMessages: MAX_SHOWN_MESSAGES,
    onMessageEnd({ id, status, segments }) {
      const session = router.controller.peek()?.id ?? ""
      void getSpokenText(segments).then((text) => onAnswerEnd(status, id, text, session))
      void router.sessionList.refresh()
    },
    withLock: (name, callback) => navigator.locks?.request(name, callback) ?? callback(),
    onReachable() {
      isOnline.value = true
    },
    isVisible: () => !document.hidden,
    readHash: () => address.read(),
    writeHash: (hash) => address.write(hash),
  })
  return router
}

/**
 * Removes the reply reference or, if there is none, stops the running answer. Returns false if there was nothing to do.
 * SPEC PG18.
 */
function handleEscape(router: SessionRouter): boolean {
  const { replyTo } = router.draft
  if (replyTo.peek() !== null) {
    replyTo.value = null
    return true
  }
  return router.controller.peek()?.stopAnswer() ?? false
}
