/** container.ts: a block that contains other blocks and may still receive lines. */

import type { DraftToken } from "./draft-token.ts"

/** The root, a quote or a list item. */
export interface Container {
  readonly tokens: DraftToken[]
  /** The number of columns before an item's content; 0 for other containers. */
  readonly indent: number
  /** The list that an item belongs to. */
  readonly list?: DraftToken
  /** The delimiter of the last list in the container. */
  delimiter: string
  /** Whether a blank line follows the container's last block. */
  hasBlank: boolean
}

export function createContainer(tokens: DraftToken[], indent: number, list?: DraftToken): Container {
  return { tokens, indent, ...(list && { list }), delimiter: "", hasBlank: false }
}
