/**
 * card-view-url.ts: names a version of a tenant's card, in stored calls, segments and URLs.
 *
 * `<name>@<revision>`. The revision is a hash of the template, so a name never means two templates. Pure. SPEC CV9.
 */

/** The first 32 digits of a SHA-256. */
const REFERENCE = /^([a-z][a-z0-9_-]{0,31})@([0-9a-f]{32})$/

export interface ViewReference {
  readonly name: string
  readonly revision: string
}

export function parseViewReference(text: string): ViewReference | null {
  const [, name, revision] = REFERENCE.exec(text) ?? []
  return name === undefined || revision === undefined ? null : { name, revision }
}

/** Returns the URL of a card's template that the page sends to be signed. */
export function cardViewUrl({ name, revision }: ViewReference): string {
  return `/media/card/${name}@${revision}`
}

/** Null for any other URL. */
export function parseCardViewUrl(url: string): ViewReference | null {
  return url.startsWith("/media/card/") ? parseViewReference(url.slice("/media/card/".length)) : null
}

/** Returns the URL of a template. It is public, because its hash can't be guessed. Browsers cache the response. */
export function publicCardPath(tenant: string, { name, revision }: ViewReference): string {
  return `/media/card/${tenant}/${name}@${revision}.json`
}
