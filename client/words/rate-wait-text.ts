/** rate-wait-text.ts: the strings that are shown while the server refuses more requests. Pure. */

export const rateWaitText = {
  /** `reason`: the server's text. */
  waiting: (reason: string) => `${reason} Nothing is lost. We'll continue automatically.`.trim(),
} as const
