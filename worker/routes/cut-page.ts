/** cut-page.ts: cuts a page from a list that was read with one extra item. Pure. */

/**
 * Returns the first `size` items, and `last`, the item after which the next page begins. `last` is undefined if there
 * is no next page. `found` has one item more than `size` if there is a next page.
 */
export function cutPage<T>(found: readonly T[], size: number): { readonly page: T[]; readonly last: T | undefined } {
  const page = found.slice(0, size)
  return { page, last: found.length > size ? page.at(-1) : undefined }
}
