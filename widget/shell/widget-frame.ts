/**
 * widget-frame.ts: the conversation in a frame served by the Cuecard server, for the option `isolate`. The site can't
 * read what is in the frame.
 *
 * The frame's page reports that it is ready. The element accepts this message only from the frame's window and the
 * server's origin, and then sends the frame one end of a channel, addressed to that origin. Tokens, events and commands
 * use only the channel. Source: SPEC WG4.
 */

import type { WidgetHost, WidgetOptions, WidgetView } from "./widget-view.ts"

/** Sent by the frame's page to its parent once the page is listening. */
export const FRAME_READY = "cuecard:embed-ready"
/** Sent to the frame with the options and the channel. */
export const FRAME_START = "cuecard:embed-start"

/** How long the frame may take to start, in milliseconds. A frame that the browser refuses sends nothing. */
const START_TIMEOUT_MS = 20_000

/**
 * Thrown if the frame doesn't start. The browser refuses a frame without telling the page, and the most likely reason
 * is that the site isn't listed.
 */
class FrameError extends Error {
  readonly code = "origin_denied"
  constructor() {
    super("The frame didn't start. Is this site one of the tenant's embed_hosts?")
  }
}

/** A command of the element: a method of the view and its arguments. */
export type ViewCommand = Exclude<keyof WidgetView, "handleEscape" | "dispose">

/** What the frame sends over the channel. */
export type FrameMessage =
  | { readonly type: "token"; readonly id: number }
  | { readonly type: "event"; readonly name: string; readonly detail: unknown }
  /** The user has closed the panel, with the button in the title bar or the Escape key. */
  | { readonly type: "close" }

/** What the element sends over the channel. */
export type ParentMessage =
  | { readonly type: "token"; readonly id: number; readonly token: string | null; readonly isRefused: boolean }
  | { readonly type: "command"; readonly name: ViewCommand; readonly args: readonly unknown[] }

/** Loads the frame into the box. Rejects if there is no token, or if the frame doesn't start. */
export async function createFrame(
  box: HTMLElement,
  title: string,
  options: WidgetOptions,
  host: WidgetHost,
): Promise<WidgetView> {
  const frame = document.createElement("iframe")
  frame.title = title
  frame.allow = "clipboard-write; fullscreen"
  frame.src = await createFrameUrl(options, host)
  const port = await startFrame(box, frame, options)
  port.onmessage = ({ data }: MessageEvent<FrameMessage>) => void handleMessage(port, data, host)
  const send = (name: ViewCommand, ...args: readonly unknown[]): void =>
    port.postMessage({ type: "command", name, args } satisfies ParentMessage)
  return {
    setTheme: (theme) => send("setTheme", theme),
    setLanguages: (tags) => send("setLanguages", [...tags]),
    openSession: (session) => send("openSession", session),
    sendText: (text) => send("sendText", text),
    focus() {
      frame.focus()
      send("focus")
    },
    // Keys that are pressed in the frame arrive only there.
    handleEscape: () => false,
    dispose() {
      port.close()
      frame.remove()
    },
  }
}

/**
 * Creates the frame's URL, which names the tenant of the first token, because the tenant's settings determine whether
 * this site may frame the page.
 */
async function createFrameUrl({ url }: WidgetOptions, host: WidgetHost): Promise<string> {
  const address = new URL("/embed", url)
  address.searchParams.set("origin", location.origin)
  const tenant = readTenant(await host.getToken())
  if (tenant !== null) address.searchParams.set("tenant", tenant)
  return address.href
}

function readTenant(token: string): string | null {
  try {
    const payload = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")
    const { tenant } = JSON.parse(atob(payload)) as { readonly tenant?: unknown }
    return typeof tenant === "string" ? tenant : null
  } catch {
    return null
  }
}

/** Starts the frame. Resolves with the element's end of the channel. */
async function startFrame(box: HTMLElement, frame: HTMLIFrameElement, options: WidgetOptions): Promise<MessagePort> {
  const { promise, resolve, reject } = Promise.withResolvers<MessagePort>()
  const onMessage = ({ source, origin, data }: MessageEvent): void => {
    if (source === null || source !== frame.contentWindow || origin !== options.url) return
    if (Reflect.get(Object(data), "type") !== FRAME_READY) return
    const channel = new MessageChannel()
    const start = { type: FRAME_START, options: { ...options, languages: [...options.languages] } }
    frame.contentWindow?.postMessage(start, options.url, [channel.port2])
    resolve(channel.port1)
  }
  const timer = setTimeout(() => reject(new FrameError()), START_TIMEOUT_MS)
  addEventListener("message", onMessage)
  box.replaceChildren(frame)
  try {
    return await promise
  } finally {
    removeEventListener("message", onMessage)
    clearTimeout(timer)
  }
}

async function handleMessage(port: MessagePort, message: FrameMessage, host: WidgetHost): Promise<void> {
  if (message.type === "close") return host.requestClose()
  if (message.type === "event") return host.emit(message.name as "ready", message.detail as Record<never, never>)
  const { id } = message
  try {
    port.postMessage({ type: "token", id, token: await host.getToken(), isRefused: false } satisfies ParentMessage)
  } catch (error) {
    const isRefused = Reflect.get(Object(error), "isRefused") === true
    port.postMessage({ type: "token", id, token: null, isRefused } satisfies ParentMessage)
  }
}
