/**
 * main.tsx: the page starts here: it hands the browser's clock, chance, storage and sockets to the parts that take them.
 */

import { signal } from "@preact/signals"
import { nanoid } from "nanoid"
import { render } from "preact"
import { announceAnswerEnd } from "../ui/announcer.ts"
import { createApi, RequestError } from "../net/api.ts"
import { App } from "./app.tsx"
import { SessionRouter } from "../session/session-router.ts"
import { focusRequests } from "../composer/composer.tsx"
import { handleEscape } from "./escape-key.ts"
import { sendFile } from "../files/send-file.ts"
import { retryDelayMs } from "../net/socket-link.ts"
import { EMPTY_SETTINGS } from "../files/remote-media.ts"
import type { KeyValueStorage } from "../net/outbox.ts"
import "../styles/base.css"
import "../styles/page.css"
import "../styles/composer.css"
import "../styles/narrow-screen.css"
import "../styles/session-list.css"
import "../styles/dialog.css"
import "../styles/transcript.css"
import "../styles/tool-calls.css"
import "../styles/agents.css"
import "../styles/acts.css"
import "../styles/prose.css"
import "../styles/cards.css"
import "../styles/media.css"
import "../styles/audio.css"
import "../styles/canvas.css"
import "../styles/files.css"
import "../styles/lightbox.css"
import "../styles/print.css"
import { restoreTheme } from "../ui/theme.ts"
import { loadTranscript, transcriptModule } from "../transcript/load-transcript.ts"

/** In a hidden tab there are no animation frames; what came is shown so often there, in milliseconds. */
const HIDDEN_FLUSH_MS = 250
/** Longest request, in milliseconds: a page of a megabyte on a poor line. */
const REQUEST_TIMEOUT_MS = 30_000

const announcement = signal("")
const isOnline = signal(navigator.onLine)
const isDrawerOpen = signal(false)
const settings = signal(EMPTY_SETTINGS)
const api = createApi({
  // A network that swallows a request would hold the page for minutes.
  fetch: (url, init) => fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS), ...init }),
  now: Date.now,
})

const router = new SessionRouter({
  api,
  storage: openStorage(),
  sendFile,
  settings,
  connect(session, protocols, events) {
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/v1/sessions/${session}/socket`, protocols)
    socket.onopen = () => events.onOpen()
    socket.onmessage = ({ data }) => events.onMessage(data)
    socket.onclose = ({ code }) => events.onClose(code)
    return socket
  },
  now: Date.now,
  random: Math.random,
  createId: () => nanoid(),
  setTimer(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
  scheduleRender(callback) {
    if (document.hidden) setTimeout(callback, HIDDEN_FLUSH_MS)
    else requestAnimationFrame(callback)
  },
  onMessageEnd(answer) {
    const code = transcriptModule.peek()
    const text = code === null || code === "lost" ? "" : code.spokenWords(answer.segments)
    announceAnswerEnd(announcement, answer.status, text)
    void router.sessionList.refresh()
  },
  // Without locks (an old browser, plain HTTP) two pages may be at it.
  withLock: (name, callback) => navigator.locks?.request(name, callback) ?? callback(),
  onReachable() {
    isOnline.value = true
  },
  isVisible: () => !document.hidden,
  readHash: () => location.hash,
  writeHash: (hash) => history.pushState(null, "", hash),
})

/** A browser that forbids storage gets a page that forgets. */
function openStorage(): KeyValueStorage {
  try {
    return localStorage
  } catch {
    return { length: 0, key: () => null, getItem: () => null, setItem() {}, removeItem() {} }
  }
}

/** Until the server says what the tenant allows nothing is; one that is away is asked again, one that refuses is not. */
async function loadSettings(attempt: number): Promise<void> {
  try {
    settings.value = await api.getSettings()
  } catch (error) {
    if (error instanceof RequestError && error.status < 500 && error.status !== 429) return
    setTimeout(() => void loadSettings(attempt + 1), retryDelayMs(attempt, Math.random()))
  }
}

addEventListener("hashchange", () => {
  router.openFromHash()
  focusRequests.value++
})
// A way chosen closes the drawer it was chosen in, also where it leads to what is open already.
addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("a[href^='#']") !== null) isDrawerOpen.value = false
})
addEventListener("online", () => {
  isOnline.value = true
  router.checkConnections()
})
addEventListener("storage", () => router.handleStorageEvent())
addEventListener("offline", () => {
  isOnline.value = false
  // Some machines say so without being it: whatever answers now proves them wrong.
  router.checkConnections()
})
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) router.checkConnections()
})
addEventListener("keydown", (event) => {
  handleEscape(event, {
    isDrawerOpen,
    replyTo: router.draft.replyTo,
    stopAnswer: () => router.controller.peek()?.stopAnswer(),
  })
  const isTyping = event.target instanceof HTMLElement && event.target.matches("textarea, input, [contenteditable]")
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  focusRequests.value++
})

restoreTheme()
router.openFromHash()
router.resumeStored()
void router.sessionList.refresh().then(() => router.sessionList.startPolling())
void loadSettings(1)
const root = document.getElementById("app")
// After the first view is painted.
setTimeout(loadTranscript)
if (root !== null)
  render(<App router={router} announcement={announcement} isDrawerOpen={isDrawerOpen} isOnline={isOnline} />, root)
