/**
 * main.tsx: the chat page's entry point: passes the browser's clock, randomness, storage, network and sockets to the
 * modules that need them, and listens to the browser's events.
 */

import { effect, signal } from "@preact/signals"
import { render } from "preact"
import { userMenu } from "../account/deferred-account.ts"
import { tokenResponse } from "../account/token-response.ts"
import { createUserGuard } from "../account/user-guard.ts"
import { attachmentChips } from "../composer/deferred-chips.ts"
import { sendFile } from "../files/send-file-xhr.ts"
import { createEnvironment } from "../net/client-environment.ts"
import { openStorage } from "../ui/browser-storage.ts"
import { fetchOnce } from "../net/early-responses.ts"
import { sendWithRateLimitRetry } from "../net/rate-limit-retry.ts"
import { createUserStorage } from "../net/user-storage.ts"
import { MAX_SHOWN_MESSAGES } from "../session/history-deps.ts"
import { parseSessionHash, SessionRouter } from "../session/session-router.ts"
import type { CommandContext } from "../search/page-commands.ts"
import { searchTools } from "../search/deferred-search.ts"
import { openSettingsFromHash } from "../settings/deferred-settings.ts"
import { sessionActions } from "../sidebar/deferred-actions.tsx"
import { getSpokenText, loadTranscript, transcriptModule } from "../transcript/load-transcript.ts"
import { announceAnswerEnd } from "../ui/announcer.ts"
import { focusRequests } from "../ui/focus.ts"
import { holdDroppedFiles } from "../ui/held-drop.ts"
import { startLanguage } from "../ui/preferences/page-language.ts"
import { appText, formatDocumentTitle } from "../words/page-text.ts"
import { composerTools } from "../writing/deferred-writing.ts"
import { App } from "./app.tsx"
import { handleEscape } from "./escape-key.ts"
import { noteKeyPress, scheduleRender } from "./render-schedule.ts"
import { formatHeading } from "./top-bar.tsx"
import "../styles/base.css"
import "../styles/page.css"
import "../styles/composer.css"
import "../styles/writing/composer-tools.css"
import "../styles/writing/answer-tools.css"
import "../styles/narrow-screen.css"
import "../styles/low-window.css"
import "../styles/sidebar/top-bar.css"
import "../styles/sidebar/session-list.css"
import "../styles/sidebar/organizing.css"
import "../styles/sidebar/temporary-chat.css"
import "../styles/sidebar/account.css"
import "../styles/sidebar/budget-meters.css"
import "../styles/dialog.css"
import "../styles/sidebar/import-sharing.css"
import "../styles/sidebar/link-share.css"
import "../styles/transcript/transcript.css"
import "../styles/transcript/notes.css"
import "../styles/missing-conversation.css"
import "../styles/transcript/tool-calls.css"
import "../styles/transcript/agents.css"
import "../styles/transcript/requests.css"
import "../styles/transcript/acts.css"
import "../styles/transcript/prose.css"
import "../styles/transcript/tables.css"
import "../styles/transcript/reading.css"
import "../styles/transcript/formulas.css"
import "../styles/transcript/cards.css"
import "../styles/transcript/chart.css"
import "../styles/transcript/view.css"
import "../styles/transcript/view-form.css"
import "../styles/transcript/input-form.css"
import "../styles/transcript/view-pictures.css"
import "../styles/transcript/sources.css"
import "../styles/search/search.css"
import "../styles/settings.css"
import "../styles/media/media.css"
import "../styles/media/audio.css"
import "../styles/media/canvas.css"
import "../styles/media/canvas-panel.css"
import "../styles/media/files.css"
import "../styles/media/lightbox.css"
import "../styles/right-to-left.css"
import "../styles/print-forced-colors.css"

declare global {
  /** Set by a product that embeds the page, before the page's script runs. */
  var cuecard: { readonly getToken: () => Promise<string> } | undefined
}

/** How long the loading of the remaining code waits for the open conversation, in milliseconds. */
const MAX_REST_DELAY_MS = 2_000

/** How long the page may use responses that were requested before its scripts had loaded, in milliseconds. */
const MAX_EARLY_MS = 15_000

const isOnline = signal(navigator.onLine)
const isDrawerOpen = signal(false)
const storage = openStorage()
const userStorage = createUserStorage(storage)
const guardUser = createUserGuard(storage, userStorage)
const environment = createEnvironment({
  origin: location.origin,
  fetch: (url, init) => fetchOnce(url.slice(location.origin.length), init, () => fetch(url, init)),
  WebSocket,
  // Only a server on a developer's machine issues tokens without a sign-in. Other servers are reached over HTTPS.
  tokenRoutes: location.protocol === "http:" ? ["/v1/dev/token", "/auth/token"] : ["/auth/token"],
  getEmbeddedToken: globalThis.cuecard?.getToken,
  async onToken(response) {
    await guardUser(response)
    tokenResponse.value = response
  },
  onSignedOut: (refusal) =>
    void import("../account/sign-in-screen.tsx").then(({ showSignIn }) => showSignIn(storage, refusal)),
})

const { isReadOnly, loadSettings } = environment
// If the page's URL doesn't name a tenant, the page learns its tenant, and so its theme, only from the user's token.
environment.settings.subscribe(({ theme }) => {
  if (theme !== undefined && globalThis.cuecardTheme === undefined)
    void import("../ui/preferences/show-theme.ts").then(({ showTheme }) =>
      showTheme(document.documentElement, theme, ""),
    )
})

const router = new SessionRouter({
  ...environment,
  storage: userStorage,
  sendFile: (...upload) => sendWithRateLimitRetry(environment.api.hold, () => sendFile(...upload)),
  scheduleRender,
  maxShownMessages: MAX_SHOWN_MESSAGES,
  onMessageEnd(answer) {
    void getSpokenText(answer.segments).then((text) => announceAnswerEnd(answer.status, text))
    void composerTools.module.peek()?.notifyAboutAnswer(answer, document.title)
    void router.sessionList.refresh()
  },
  // Without the Web Locks API (an old browser, or plain HTTP), two tabs may do the same work.
  withLock: (name, callback) => navigator.locks?.request(name, callback) ?? callback(),
  onReachable() {
    isOnline.value = true
  },
  isVisible: () => !document.hidden,
  readHash: () => location.hash,
  writeHash: (hash) => history.pushState(null, "", hash),
  readOpenedFrom: () => (typeof history.state === "string" ? parseSessionHash(`#/s/${history.state}`) : null),
  writeOpenedFrom: (session) => history.replaceState(session, ""),
})

const commandContext: CommandContext = {
  router,
  isDrawerOpen,
  getSidebar: () => sessionActions.module.peek(),
}

holdDroppedFiles()
addEventListener("hashchange", () => {
  if (openSettingsFromHash(location.hash)) return
  router.openFromHash()
  focusRequests.value++
})
// Choosing a conversation closes the drawer, even if that conversation is already open.
addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("a[href^='#']") !== null) isDrawerOpen.value = false
})
addEventListener("online", () => {
  isOnline.value = true
  router.checkConnections()
})
addEventListener("storage", (event) => router.handleStorageEvent(event))
// After this time, the early responses would be outdated.
setTimeout(() => {
  globalThis.earlyResponses = undefined
}, MAX_EARLY_MS)
addEventListener("pagehide", () => router.flushDrafts())
addEventListener("offline", () => {
  isOnline.value = false
  // Some devices fire this event while they are online. `onReachable` sets `isOnline` again once the server responds.
  router.checkConnections()
})
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return router.flushDrafts()
  router.checkConnections()
  if (isReadOnly.peek()) loadSettings()
})
addEventListener("keydown", (event) => {
  noteKeyPress(event)
  handleEscape(event, {
    isDrawerOpen,
    replyTo: router.draft.replyTo,
    stopAnswer: () => router.controller.peek()?.stopAnswer(),
  })
  if (searchTools.module.peek()?.handleShortcut(event, commandContext)) event.preventDefault()
})

effect(() => {
  const title = formatHeading(router.heading.value)
  document.title = title === "" ? appText.name : formatDocumentTitle(title)
})
if (!openSettingsFromHash(location.hash)) router.openFromHash()
// The code that renders transcripts is loaded together with the conversation, before the first paint.
if (router.controller.peek() !== null) void loadTranscript()
void router.restoreDrafts()
// Sends stored messages now, and again whenever the page becomes writable.
isReadOnly.subscribe((isHeld) => {
  if (!isHeld) router.resumeStored()
})
void router.sessionList.refresh().then(() => router.sessionList.startPolling())
loadSettings()
const root = document.getElementById("app")

/** Waits until the open conversation is shown. Loading code that the initial render doesn't need would delay it. */
async function waitForConversation(): Promise<void> {
  const controller = router.controller.peek()
  const loaded = new Promise<void>((resolve) => {
    effect(() => {
      const isShown = controller === null || (controller.isLoaded.value && transcriptModule.value !== null)
      if (isShown || controller.loadError.value !== null) resolve()
    })
  })
  await Promise.race([loaded, new Promise((resolve) => setTimeout(resolve, MAX_REST_DELAY_MS))])
  // Waits for the next paint.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
}

// Runs after the first paint.
setTimeout(loadTranscript)
void waitForConversation().then(() => {
  void sessionActions.load()
  void attachmentChips.load()
  void userMenu.load()
  void composerTools.load()
  void searchTools.load()
  // If the service worker can't be registered, the next visit tries again; if the code for uploads can't be loaded, the
  // next use tries again.
  import("./register-service-worker.ts").then(({ registerServiceWorker }) => registerServiceWorker()).catch(() => {})
  router.loadUploads().catch(() => {})
})
if (root !== null)
  startLanguage(() => render(<App router={router} commandContext={commandContext} isOnline={isOnline} />, root))
