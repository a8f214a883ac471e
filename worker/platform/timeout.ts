/** timeout.ts: bounds how long a caller waits for work that may never settle. The work itself is not stopped. */

/** Settles like `work`, or rejects with `createError()` after `ms`. A later result is dropped. */
export async function withTimeout<T>(work: Promise<T>, ms: number, createError: () => Error): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(createError()), ms)
  return await Promise.race([work, expired]).finally(() => clearTimeout(timer))
}

/** Resolves when `work` resolves or after `ms`, whichever comes first. Rejects only if `work` rejects before that. */
export async function waitAtMost(work: Promise<void>, ms: number): Promise<void> {
  const { promise: expired, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, expired]).finally(() => clearTimeout(timer))
}
