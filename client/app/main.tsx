/**
 * main.tsx: the page starts here: it hands the browser's clock, chance, storage and sockets to the parts that take them.
 */

import { signal } from "@preact/signals"
import { nanoid } from "nanoid"
import { render } from "preact"
import { announce } from "../ui/announcer.ts"
import { createApi, RequestError } from "../net/api.ts"
import { App } from "./app.tsx"
import { Chat } from "../session/session-router.ts"
import { focusAsked } from "../composer/composer.tsx"
import { takeEscape } from "./escape-key.ts"
import { upload } from "../files/send-file.ts"
import { retryDelayMs } from "../net/socket-link.ts"
import { NO_SETTINGS } from "../files/remote-media.ts"
import type { Shelf } from "../net/outbox.ts"
import "../styles/base.css"
import "../styles/page.css"
import "../styles/list.css"
import "../styles/transcript.css"
import "../styles/acts.css"
import "../styles/prose.css"
import "../styles/cards.css"
import "../styles/media.css"
import "../styles/files.css"
import "../styles/lightbox.css"
import "../styles/print.css"
import { restoreTheme } from "../ui/theme.ts"
import { loadTranscript, transcriptCode } from "../transcript/load-transcript.ts"

/** In a hidden tab there are no animation frames; what came is shown so often there, in milliseconds. */
const HIDDEN_FLUSH_MS = 250
/** Longest request, in milliseconds: a page of a megabyte on a poor line. */
const REQUEST_MS = 30_000

const spoken = signal("")
const isOnline = signal(navigator.onLine)
const isDrawerOpen = signal(false)
const settings = signal(NO_SETTINGS)
const api = createApi({
  // A network that swallows a request would hold the page for minutes.
  fetch: (url, init) => fetch(url, { signal: AbortSignal.timeout(REQUEST_MS), ...init }),
  now: Date.now,
})

const chat = new Chat({
  api,
  shelf: openShelf(),
  upload,
  settings,
  connect(session, protocols, events) {
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/v1/sessions/${session}/socket`, protocols)
    socket.onopen = () => events.open()
    socket.onmessage = ({ data }) => events.message(data)
    socket.onclose = ({ code }) => events.close(code)
    return socket
  },
  now: Date.now,
  random: Math.random,
  nextId: () => nanoid(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  schedule(call) {
    if (document.hidden) setTimeout(call, HIDDEN_FLUSH_MS)
    else requestAnimationFrame(call)
  },
  ended(message) {
    const code = transcriptCode.peek()
    const words = code === null || code === "lost" ? "" : code.spokenWords(message.segments)
    announce(spoken, message.status, words)
    void chat.sessions.refresh()
  },
  // Without locks (an old browser, plain HTTP) two pages may be at it.
  claim: (name, call) => navigator.locks?.request(name, call) ?? call(),
  reached() {
    isOnline.value = true
  },
  isVisible: () => !document.hidden,
  readHash: () => location.hash,
  writeHash: (hash) => history.pushState(null, "", hash),
})

/** A browser that forbids storage gets a page that forgets. */
function openShelf(): Shelf {
  try {
    return localStorage
  } catch {
    return { length: 0, key: () => null, getItem: () => null, setItem() {}, removeItem() {} }
  }
}

/** Until the server says what the tenant allows nothing is; one that is away is asked again, one that refuses is not. */
async function askSettings(tries: number): Promise<void> {
  try {
    settings.value = await api.settings()
  } catch (error) {
    if (error instanceof RequestError && error.status < 500 && error.status !== 429) return
    setTimeout(() => void askSettings(tries + 1), retryDelayMs(tries, Math.random()))
  }
}

addEventListener("hashchange", () => {
  chat.follow()
  focusAsked.value++
})
// A way chosen closes the drawer it was chosen in, also where it leads to what is open already.
addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("a[href^='#']") !== null) isDrawerOpen.value = false
})
addEventListener("online", () => {
  isOnline.value = true
  chat.wake()
})
addEventListener("storage", () => chat.hearShelf())
addEventListener("offline", () => {
  isOnline.value = false
  // Some machines say so without being it: whatever answers now proves them wrong.
  chat.wake()
})
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) chat.wake()
})
addEventListener("keydown", (event) => {
  takeEscape(event, { isDrawerOpen, reply: chat.draft.reply, stop: () => chat.room.peek()?.stop() })
  const isTyping = event.target instanceof HTMLElement && event.target.matches("textarea, input, [contenteditable]")
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  focusAsked.value++
})

restoreTheme()
chat.follow()
chat.collect()
void chat.sessions.refresh().then(() => chat.sessions.watch())
void askSettings(1)
const root = document.getElementById("app")
// After the first view is painted.
setTimeout(loadTranscript)
if (root !== null) render(<App chat={chat} spoken={spoken} isDrawerOpen={isDrawerOpen} isOnline={isOnline} />, root)
