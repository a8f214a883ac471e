/** cut-page.ts: pages of a list, of which one item more than a page was read. Pure. */

/**
 * The first `size` items, and `last`: the item behind which the next page begins; undefined if there is none. `found` has one
 * item more than a page if there is a next one.
 */
export function cutPage<T>(found: readonly T[], size: number): { readonly page: T[]; readonly last: T | undefined } {
  const page = found.slice(0, size)
  return { page, last: found.length > size ? page.at(-1) : undefined }
}
