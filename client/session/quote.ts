/** quote.ts: the excerpt of a replied-to message, which the composer and the reply show. */

export interface Quote {
  readonly author: string
  /** An excerpt of the message. */
  readonly text: string
}
