/**
 * canvas-document.ts: a document that a model wrote, as it is sent to a frame.
 *
 * bytes of the bucket → CANVAS DOCUMENT → frame
 * Its policy (policy.ts) holds what a policy can hold. What none can, a script of ours takes away before the document's
 * own begin: connections that browsers make outside of it, and frames inside the frame, which would have them again
 * (docs/decisions/0018-canvas-isolation.md).
 * Pure.
 */

/**
 * Elements that open a realm of their own, or a connection that no policy sees. In XML a prefix may stand before the name,
 * and an entity may hold all of it. A tag that the text ends within may go on in the next: whatever it is, it is shut.
 */
const BLOCKED_TAGS =
  "<(?=!ENTITY|(?:[^\\s<>/]*:)?(?:iframe|frame|frameset|fencedframe|portal|object|embed|link)[\\s/>]|[a-z]*$)"

/**
 * In the document's realm, first of all. Its policy lets no other policy for trusted types be made, so every markup that
 * a script writes passes here. `srcdoc` is the one kind of frame that the policy does not stop; a script that is an address
 * would make another realm in this one's place. What is used here later is taken along, since the document may change it.
 */
const GUARD_SCRIPT = `(() => {
  const gone = ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "RTCIceTransport", "WebTransport", "XSLTProcessor"]
  for (const name of gone) {
    delete globalThis[name]
    if (name in globalThis) Object.defineProperty(globalThis, name, { value: undefined })
  }
  const { exec, [Symbol.replace]: replaceIn } = RegExp.prototype
  const doors = Object.defineProperties(/${BLOCKED_TAGS.replaceAll("/", "\\/")}/gi, { exec: { value: exec }, flags: { value: "gi" } })
  const replace = Function.prototype.call.bind(replaceIn)
  const includes = Function.prototype.call.bind(String.prototype.includes)
  globalThis.trustedTypes?.createPolicy("default", {
    createHTML: (html, _type, sink) => (includes(sink, "srcdoc") ? "" : replace(doors, html, "<x-")),
    createScript: (script, _type, sink) => (sink === "Location href" ? null : script),
    createScriptURL: (url) => url,
  })
  // Whoever has the policy has markup that is trusted, for a "srcdoc" too.
  if (globalThis.trustedTypes) delete TrustedTypePolicyFactory.prototype.defaultPolicy
  const { parent } = globalThis
  addEventListener("load", () => parent.postMessage({ type: "cuecard:ready" }, "*"), { once: true })
})()`

/** The document with its doors shut. Its own doctype comes too late then, and is passed over. */
export function hardenDocument(html: string): string {
  return `<!doctype html><script>${GUARD_SCRIPT}</script>${html.replace(new RegExp(BLOCKED_TAGS, "gi"), "<x-")}`
}

/** Stands in the frame where a document is not to be had, and tells the page, which asks for another address. */
export const UNAVAILABLE_DOCUMENT =
  "<!doctype html><title>Not available</title><p>This document is not available." +
  '<script>parent.postMessage({ type: "cuecard:gone" }, "*")</script>'
