/** quote.ts: the excerpt of a replied-to message, as shown in the composer and in the reply. */

export interface Quote {
  readonly author: string
  /** An excerpt of the message. */
  readonly text: string
}
