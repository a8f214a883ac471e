/** origin.ts: checks whether a response header can contain an origin, and whether a name means this machine. Pure. */

/**
 * Whether a content security policy can contain this origin: it has no IP address in brackets and no character that
 * ends a directive.
 */
export function isPlainOrigin(origin: string): boolean {
  return /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/.test(origin)
}

/** Whether a URL's host name always means this machine, so that no site can redirect it by DNS rebinding. */
export function isLoopbackName(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(?:\.\d+){3}$/.test(hostname)
  )
}
