/**
 * canvas-frame.tsx: the sandboxed frame of a canvas document.
 *
 * The document may run scripts, but in an opaque origin, and it can't submit forms, open popups or navigate the page.
 * Messages are accepted only from the frame's own window. The page sends the frame only the theme: once at the start,
 * and whenever the theme changes. SPEC PG41, PG65, CD6.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { theme } from "../ui/preferences/theme.ts"
import { useFocusGuard } from "./focus-guard.ts"

const DARK_SCHEME_QUERY = "(prefers-color-scheme: dark)"

interface CanvasFrameProps {
  readonly href: string
  readonly name: string
  /** Called when the page in the frame reports that the document doesn't exist. */
  readonly onMissing: () => void
  /** Called when the document has taken the keyboard focus too often. */
  readonly onFocusStolen: () => void
  /** Called when the document floods the page with messages. */
  readonly onFlood: () => void
}

/**
 * Maximum number of messages that a document may send per time window. The page expects one or two in total. Reading a
 * message takes time in proportion to its size, and the page can do nothing else while it handles a long queue of
 * messages.
 */
const MAX_MESSAGES = 100
const MESSAGE_WINDOW_MS = 10_000

export function CanvasFrame({ href, name, onMissing, onFocusStolen, onFlood }: CanvasFrameProps): VNode {
  const frameRef = useRef<HTMLIFrameElement>(null)
  useFocusGuard(frameRef, onFocusStolen)
  // A layout effect, so that the page listens before the document can send anything.
  useLayoutEffect(() => connectFrame(() => frameRef.current, onMissing, onFlood), [])
  return <iframe ref={frameRef} title={name} sandbox="allow-scripts" referrerpolicy="no-referrer" src={href} />
}

/** Listens to the frame's messages, and sends it the theme. Returns a function that disconnects the frame. */
function connectFrame(
  getFrame: () => HTMLIFrameElement | null,
  onMissing: () => void,
  onFlood: () => void,
): () => void {
  let isReady = false
  let windowStart = 0
  let messages = 0
  /** Counts a message, and returns whether it may be read. */
  const countMessage = (timeStamp: number): boolean => {
    if (timeStamp - windowStart >= MESSAGE_WINDOW_MS) {
      windowStart = timeStamp
      messages = 0
    }
    if (++messages === MAX_MESSAGES) onFlood()
    return messages < MAX_MESSAGES
  }
  const onMessage = (event: MessageEvent): void => {
    const frame = getFrame()
    if (frame === null || event.source !== frame.contentWindow || !countMessage(event.timeStamp)) return
    const type: unknown = Reflect.get(Object(event.data), "type")
    if (type === "cuecard:gone") onMissing()
    if (type !== "cuecard:ready") return
    isReady = true
    postTheme(frame)
  }
  const onThemeChange = (): void => {
    const frame = getFrame()
    if (isReady && frame !== null) postTheme(frame)
  }
  const darkQuery = matchMedia(DARK_SCHEME_QUERY)
  addEventListener("message", onMessage)
  darkQuery.addEventListener("change", onThemeChange)
  const unsubscribe = theme.subscribe(onThemeChange)
  return () => {
    removeEventListener("message", onMessage)
    darkQuery.removeEventListener("change", onThemeChange)
    unsubscribe()
  }
}

function postTheme(frame: HTMLIFrameElement): void {
  const chosen = theme.peek()
  const isDark = chosen === "system" ? matchMedia(DARK_SCHEME_QUERY).matches : chosen === "dark"
  // A sandboxed frame has an opaque origin, which can't be named as the target.
  frame.contentWindow?.postMessage({ type: "cuecard:theme", theme: isDark ? "dark" : "light" }, "*")
}
