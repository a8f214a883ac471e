/**
 * wrap-app.ts: puts an MCP App into a frame of an outer document, which contains the server's own script. Pure.
 *
 * The app has its own opaque origin. The policy of the outer document applies to it too, and prevents it from
 * navigating. The script relays messages between the page and the app, and limits the app's messages, so that a flood
 * of them never reaches the page (docs/decisions/0077-mcp-apps.md).
 */

import { hardenDocument } from "./canvas-document.ts"

/** Maximum length of an app's message, in characters, and maximum number of messages within a time window. */
const MAX_MESSAGE_CHARS = 64 * 1024
const MAX_MESSAGES = 200
const MESSAGE_WINDOW_MS = 10_000

/**
 * A message reaches the page as JSON text, so the page never copies an object of unknown size. Messages that aren't
 * JSON-RPC are dropped, so an app can't imitate a message from the script.
 */
const RELAY_SCRIPT = `(() => {
  const { parent } = globalThis
  let start = -Infinity
  let count = 0
  addEventListener("message", ({ source, data, timeStamp }) => {
    const app = frames[0]
    if (source === parent) {
      if (data?.type === "cuecard:app") app.postMessage(data.message, "*")
      return
    }
    if (source !== app) return
    if (timeStamp - start >= ${MESSAGE_WINDOW_MS}) {
      start = timeStamp
      count = 0
    }
    count++
    if (count === ${MAX_MESSAGES}) parent.postMessage({ type: "cuecard:flood" }, "*")
    if (count >= ${MAX_MESSAGES} || data?.jsonrpc !== "2.0") return
    let text
    try {
      text = JSON.stringify(data)
    } catch {
      return
    }
    if (text.length <= ${MAX_MESSAGE_CHARS}) parent.postMessage({ type: "cuecard:app", text }, "*")
  })
})()`

/**
 * Libraries that find this interface create their own Trusted Types policies, which the document's content security
 * policy forbids.
 */
const HIDE_TRUSTED_TYPES = `<script>Object.defineProperty(globalThis, "trustedTypes", { value: undefined })</script>`

/**
 * Wraps an app in a frame that fills the outer document. Ampersands and quotation marks are escaped, because only a
 * quotation mark can end the attribute.
 */
export function wrapApp(html: string): string {
  const hardened = hardenDocument(html).replace("</script>", `</script>${HIDE_TRUSTED_TYPES}`)
  const attribute = hardened.replaceAll("&", "&amp;").replaceAll('"', "&quot;")
  return [
    `<!doctype html><meta charset="utf-8"><title>App</title>`,
    "<style>:root{color-scheme:light dark}html,body,iframe{display:block;width:100%;height:100%;margin:0;border:0}html{overflow:hidden}</style>",
    `<script>${RELAY_SCRIPT}</script>`,
    `<iframe sandbox="allow-scripts" title="App" srcdoc="${attribute}"></iframe>`,
  ].join("")
}
