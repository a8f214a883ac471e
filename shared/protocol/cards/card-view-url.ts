/**
 * card-view-url.ts: the name of a card's version in stored calls, segments and URLs.
 *
 * The name is `<name>@<revision>`. The revision is a hash of the template, so a name never refers to two templates.
 * Pure. SPEC CV9.
 */

/** The revision is the first 32 hexadecimal digits of a SHA-256 hash. */
const REFERENCE = /^([a-z][a-z0-9_-]{0,31})@([0-9a-f]{32})$/

export interface ViewReference {
  readonly name: string
  readonly revision: string
}

export function parseViewReference(text: string): ViewReference | null {
  const [, name, revision] = REFERENCE.exec(text) ?? []
  return name === undefined || revision === undefined ? null : { name, revision }
}

/** Returns the URL of a card's template that the page sends to the server for signing. */
export function cardViewUrl({ name, revision }: ViewReference): string {
  return `/media/card/${name}@${revision}`
}

/** Parses a URL that `cardViewUrl` can create. Returns null for any other URL. */
export function parseCardViewUrl(url: string): ViewReference | null {
  return url.startsWith("/media/card/") ? parseViewReference(url.slice("/media/card/".length)) : null
}

/**
 * Returns the public URL of a template. It needs no signature, because the hash in it can't be guessed. Browsers cache
 * the response.
 */
export function publicCardPath(tenant: string, { name, revision }: ViewReference): string {
  return `/media/card/${tenant}/${name}@${revision}.json`
}
