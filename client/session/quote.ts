/** quote.ts: an excerpt from the message being replied to, as shown in the composer and in the reply. */

export interface Quote {
  readonly author: string
  /** An excerpt of the message. */
  readonly text: string
}
