/** quote.ts: what the composer and a reply show of the message that is replied to. */

export interface Quote {
  readonly author: string
  /** An excerpt. */
  readonly text: string
}
