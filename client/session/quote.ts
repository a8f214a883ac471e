/** quote.ts: the excerpt of the replied-to message that the composer and a reply show. */

export interface Quote {
  readonly author: string
  /** An excerpt. */
  readonly text: string
}
