/**
 * canvas-document.ts: prepares an HTML document written by a model for its frame.
 *
 * Its content security policy (content-policy.ts) blocks most access. A guard script, which runs before the document's
 * own scripts, blocks what a policy cannot: connections that it does not cover, and nested frames, in which the removed
 * APIs would be available again (docs/decisions/0018-canvas-isolation.md). Pure.
 */

/**
 * Start tags that create a realm or open a connection that no policy covers. In XML the name may have a prefix, and an
 * entity may contain a whole tag. A tag name that is cut off at the end of the text may continue in the next write, so
 * every tag that is cut off like this is blocked.
 */
const BLOCKED_TAGS =
  "<(?=!ENTITY|(?:[^\\s<>/]*:)?(?:iframe|frame|frameset|fencedframe|portal|object|embed|link)[\\s/>]|[a-z]*$)"

/**
 * Runs first in the document's realm. The document's policy allows only this trusted-types policy, so all markup that a
 * script writes passes through it. The content security policy does not block `srcdoc` frames, so they are emptied. A
 * `javascript:` URL could replace this realm with a new one, so it is refused. The script keeps its own references to
 * the built-in functions that it needs later, because the document may replace them.
 */
const GUARD_SCRIPT = `(() => {
  const blockedGlobals = ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "RTCIceTransport", "WebTransport", "XSLTProcessor"]
  for (const name of blockedGlobals) {
    delete globalThis[name]
    if (name in globalThis) Object.defineProperty(globalThis, name, { value: undefined })
  }
  const { exec, [Symbol.replace]: replaceIn } = RegExp.prototype
  const blockedTags = Object.defineProperties(/${BLOCKED_TAGS.replaceAll("/", "\\/")}/gi, { exec: { value: exec }, flags: { value: "gi" } })
  const replace = Function.prototype.call.bind(replaceIn)
  const includes = Function.prototype.call.bind(String.prototype.includes)
  globalThis.trustedTypes?.createPolicy("default", {
    createHTML: (html, _type, sink) => (includes(sink, "srcdoc") ? "" : replace(blockedTags, html, "<x-")),
    createScript: (script, _type, sink) => (sink === "Location href" ? null : script),
    createScriptURL: (url) => url,
  })
  // With a reference to the policy, a script could create trusted markup, even for "srcdoc".
  if (globalThis.trustedTypes) delete TrustedTypePolicyFactory.prototype.defaultPolicy
  const { parent } = globalThis
  addEventListener("load", () => parent.postMessage({ type: "cuecard:ready" }, "*"), { once: true })
})()`

/**
 * Returns the document with the guard script first and blocked tags renamed. The document's own doctype therefore has
 * no effect.
 */
export function hardenDocument(html: string): string {
  return `<!doctype html><script>${GUARD_SCRIPT}</script>${html.replace(new RegExp(BLOCKED_TAGS, "gi"), "<x-")}`
}

/**
 * Shown in the frame instead of a document that is not available. This text notifies the page, which requests a new
 * link.
 */
export const UNAVAILABLE_DOCUMENT =
  "<!doctype html><title>Not available</title><p>This document is not available." +
  '<script>parent.postMessage({ type: "cuecard:gone" }, "*")</script>'
