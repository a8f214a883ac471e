/**
 * app-view.tsx: the MCP App of a tool call: its frame, and its requests to the user.
 *
 * The frame contains our own document, which relays messages between the page and the app
 * (worker/routes/media/app-frame.ts). Only messages from the frame's own window are read. In a conversation that the
 * user can't change, the app is shown but can't do anything. SPEC MA5 to MA8.
 */

import type { RefObject, VNode } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { ReadonlySignal } from "@preact/signals"
import type { Segment } from "../../shared/protocol/segment.ts"
import { CanvasNote, createHeightStyle, FullScreenButton, useCanvasLink } from "../media/canvas-view.tsx"
import { useFocusGuard } from "../media/focus-guard.ts"
import { describeLoadFault } from "../media/load-failure.ts"
import { MediaIcon } from "../media/media-icons.tsx"
import type { Api } from "../net/api.ts"
import { theme } from "../ui/preferences/theme.ts"
import { formatLocale } from "../words/languages/language.ts"
import { mcpAppText } from "../words/parts/mcp-app-text.ts"
import { mediaText } from "../words/parts/media-text.ts"
import { AppBridge, type AppRequest, type JsonObject, MAX_APP_HEIGHT } from "./app-bridge.ts"
import { AppRequestView } from "./app-request-view.tsx"
import { callAppTool } from "./call-app-tool.ts"

/** The height of an app that hasn't reported one. */
const DEFAULT_HEIGHT_PX = 240
const DARK_SCHEME_QUERY = "(prefers-color-scheme: dark)"

interface AppViewProps {
  readonly call: Extract<Segment, { type: "tool" }>
  readonly url: string
  readonly api: Api
  readonly requests: {
    readonly id: string
    readonly isReadOnly: ReadonlySignal<boolean>
    sendMessage?(content: string): void
  }
}

/** Why an app was removed. A click loads it again. */
type Pause = "capturedTyping" | "floodedPage"

/** A request from the app, and the function to call with the user's answer. */
interface OpenRequest {
  readonly request: AppRequest
  readonly answer: (isAllowed: boolean) => void
}

export function AppView(props: AppViewProps): VNode {
  const { call, url } = props
  const sectionRef = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<OpenRequest | null>(null)
  // Server names contain no underscores.
  const name = mcpAppText.app(call.name.split("_", 1)[0] ?? "")
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be shown in full screen, and a section would be one of many landmarks.
    <div class="canvas" role="group" data-segment="app" ref={sectionRef} aria-label={name}>
      <header>
        <MediaIcon name="canvas" />
        <b dir="auto">{name}</b>
        {document.fullscreenEnabled && <FullScreenButton sectionRef={sectionRef} />}
      </header>
      {open !== null && <AppRequestView request={open.request} onAnswer={open.answer} />}
      <AppBody {...props} url={url} name={name} sectionRef={sectionRef} onRequest={setOpen} />
    </div>
  )
}

interface AppBodyProps extends AppViewProps {
  readonly name: string
  readonly sectionRef: RefObject<HTMLElement | null>
  readonly onRequest: (open: OpenRequest | null) => void
}

/** Apps that flooded the page with messages. They remain paused when their session is opened again. */
const floodedUrls = new Set<string>()

/** The frame, or a note that says why it is missing. */
function AppBody(props: AppBodyProps): VNode {
  const link = useCanvasLink(props.url, props.sectionRef)
  const [height, setHeight] = useState(DEFAULT_HEIGHT_PX)
  const [pause, setPause] = useState<Pause | null>(() => (floodedUrls.has(props.url) ? "floodedPage" : null))
  if (link.fault !== null || pause !== null)
    return (
      <CanvasNote text={pause === null ? describeLoadFault(link.fault ?? "gone") : mediaText[pause]} height={height}>
        <button type="button" onClick={pause === null ? link.retry : () => setPause(null)}>
          {pause === null ? mediaText.tryAgain : mediaText.resume}
        </button>
      </CanvasNote>
    )
  return (
    <div class="pane" style={createHeightStyle(height)}>
      {link.href !== null && (
        <AppFrame
          {...props}
          href={link.href}
          onHeight={setHeight}
          onMissing={link.onMissing}
          onPause={(reason) => {
            if (reason === "floodedPage") floodedUrls.add(props.url)
            props.onRequest(null)
            setPause(reason)
          }}
        />
      )}
    </div>
  )
}

interface AppFrameProps extends AppBodyProps {
  readonly href: string
  readonly onHeight: (height: number) => void
  readonly onMissing: () => void
  readonly onPause: (reason: Pause) => void
}

/**
 * Maximum number of messages that an app may send directly to the page instead of to our document in its frame. No app
 * needs to send any.
 */
const MAX_STRAY_MESSAGES = 100

function AppFrame(props: AppFrameProps): VNode {
  const { href, name, onMissing, onPause } = props
  const frameRef = useRef<HTMLIFrameElement>(null)
  useFocusGuard(frameRef, () => onPause("capturedTyping"))
  const [bridge] = useState(() => createBridge(props, frameRef))
  // A layout effect, so that the page listens before the app can send anything.
  useLayoutEffect(() => {
    let strays = 0
    const onMessage = ({ source, data }: MessageEvent): void => {
      const place = frameRef.current?.contentWindow
      if (place == null || source === null) return
      if (source === place[0] && ++strays === MAX_STRAY_MESSAGES) onPause("floodedPage")
      if (source !== place) return
      const { type, text }: { readonly type?: unknown; readonly text?: unknown } = Object(data)
      if (type === "cuecard:gone") onMissing()
      if (type === "cuecard:flood") onPause("floodedPage")
      if (type === "cuecard:app" && typeof text === "string") bridge.receive(text)
    }
    addEventListener("message", onMessage)
    return () => removeEventListener("message", onMessage)
  }, [])
  useContextUpdates(bridge)
  return <iframe ref={frameRef} title={name} sandbox="allow-scripts" referrerpolicy="no-referrer" src={href} />
}

/** Tells the app about changes to the theme and the language. */
function useContextUpdates(bridge: AppBridge): void {
  useEffect(() => {
    const update = (): void => bridge.updateContext()
    const darkQuery = matchMedia(DARK_SCHEME_QUERY)
    const stops = [theme.subscribe(update), formatLocale.subscribe(update)]
    darkQuery.addEventListener("change", update)
    return () => {
      darkQuery.removeEventListener("change", update)
      for (const stop of stops) stop()
    }
  }, [])
}

function createBridge(props: AppFrameProps, frameRef: RefObject<HTMLIFrameElement | null>): AppBridge {
  const { call, url, api, requests, onRequest, onHeight } = props
  const host = {
    post(message: JsonObject): void {
      // A sandboxed frame has an opaque origin, which can't be named as the target. Only our own document can be in the
      // frame.
      frameRef.current?.contentWindow?.postMessage({ type: "cuecard:app", message }, "*")
    },
    ask: (request: AppRequest) =>
      new Promise<boolean>((resolve) => {
        const answer = (isAllowed: boolean): void => {
          onRequest(null)
          // The buttons disappear, so the focus returns to the app.
          frameRef.current?.focus({ preventScroll: true })
          resolve(isAllowed)
        }
        if (requests.isReadOnly.peek() && request.kind !== "link") answer(false)
        else onRequest({ request, answer })
      }),
    callTool: async (tool: string, args: JsonObject, allowed: boolean) =>
      requests.isReadOnly.peek()
        ? Promise.reject(new Error("read only"))
        : await callAppTool(api, { session: requests.id, url }, { tool, args, allowed }),
    sendMessage: (text: string) => requests.sendMessage?.(text),
    resize: onHeight,
    readContext: () => readContext(frameRef.current?.clientWidth ?? 0),
    now: () => performance.now(),
  }
  return new AppBridge(host, call)
}

function readContext(width: number): JsonObject {
  const chosen = theme.peek()
  const isDark = chosen === "system" ? matchMedia(DARK_SCHEME_QUERY).matches : chosen === "dark"
  return {
    theme: isDark ? "dark" : "light",
    locale: formatLocale.peek(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    displayMode: "inline",
    availableDisplayModes: ["inline"],
    containerDimensions: { maxHeight: MAX_APP_HEIGHT, ...(width > 0 && { width }) },
    platform: "web",
  }
}
