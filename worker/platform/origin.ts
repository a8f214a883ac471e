/** origin.ts: origins that can be named in a response header. Pure. */

/** Whether a content security policy can name this origin: no IP address in brackets, no character that ends a directive. */
export function isPlainOrigin(origin: string): boolean {
  return /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/.test(origin)
}
