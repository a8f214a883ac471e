/**
 * embed-main.ts: the script of `/embed`, the page that shows the conversation in a frame on another site.
 *
 * The page's URL names the site, and the server lets only that site frame it. The page therefore sends its first
 * message only to that origin. The page accepts the start message only once, and only from its parent with that origin.
 * Source: SPEC WG4.
 */

import {
  FRAME_READY,
  FRAME_START,
  type FrameMessage,
  type ParentMessage,
  type ViewCommand,
} from "../shell/widget-frame.ts"
import { TokenError } from "../shell/element-options.ts"
import { createShell } from "../shell/widget-shell.ts"
import type { WidgetHost, WidgetOptions, WidgetView } from "../shell/widget-view.ts"
import { mountConversation } from "./mount-conversation.tsx"

const COMMANDS: ReadonlySet<string> = new Set<ViewCommand>([
  "setTheme",
  "setLanguages",
  "openSession",
  "sendText",
  "focus",
])

type PendingToken = PromiseWithResolvers<string>

/** Returns the element's side of the channel, as the conversation sees it. */
function connectHost(port: MessagePort, onCommand: (name: ViewCommand, args: readonly unknown[]) => void): WidgetHost {
  const pending = new Map<number, PendingToken>()
  let lastId = 0
  const post = (message: FrameMessage): void => port.postMessage(message)
  port.onmessage = ({ data }: MessageEvent<ParentMessage>) => {
    if (data.type === "command") return onCommand(data.name, data.args)
    const { id, token, isRefused } = data
    if (token === null) pending.get(id)?.reject(new TokenError(isRefused))
    else pending.get(id)?.resolve(token)
    pending.delete(id)
  }
  return {
    getToken() {
      const answer = Promise.withResolvers<string>()
      pending.set(++lastId, answer)
      post({ type: "token", id: lastId })
      return answer.promise
    },
    emit: (name, detail) => post({ type: "event", name, detail }),
    requestClose: () => post({ type: "close" }),
  }
}

function startConversation(options: WidgetOptions, port: MessagePort): void {
  const root = document.body.attachShadow({ mode: "open" })
  const shell = createShell(root, false, { onToggle() {}, onEscape() {} })
  shell.applyTheme(options.theme)
  const host = connectHost(port, (name, args) => {
    if (!COMMANDS.has(name)) return
    if (name === "setTheme") shell.applyTheme(String(args[0]))
    void mounted.then((view) => {
      // The element sends only what its own methods accept.
      const command = view?.[name] as ((...values: readonly unknown[]) => void) | undefined
      command?.(...args)
    })
  })
  const mounted = mountOrReport(root, shell.box, options, host)
  shell.box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return
    void mounted.then((view) => {
      if (view?.handleEscape() !== true) host.requestClose()
    })
  })
}

/** Shows the conversation. Resolves with null if that isn't possible. */
async function mountOrReport(
  root: ShadowRoot,
  box: HTMLElement,
  options: WidgetOptions,
  host: WidgetHost,
): Promise<WidgetView | null> {
  try {
    return await mountConversation(root, box, options, host)
  } catch (error) {
    const { code = "code_failed", message = "" } = Object(error) as { readonly code?: "code_failed"; message?: string }
    host.emit("error", { code, text: message })
    return null
  }
}

const site = new URLSearchParams(location.search).get("origin") ?? ""
if (parent !== window && URL.canParse(site) && new URL(site).origin === site) {
  const onMessage = ({ source, origin, data, ports }: MessageEvent): void => {
    const [port] = ports
    if (source !== parent || origin !== site || port === undefined) return
    if (Reflect.get(Object(data), "type") !== FRAME_START) return
    removeEventListener("message", onMessage)
    startConversation(Reflect.get(data, "options") as WidgetOptions, port)
  }
  addEventListener("message", onMessage)
  parent.postMessage({ type: FRAME_READY }, site)
}
