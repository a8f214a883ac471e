/**
 * limits.ts: what a reader can be told of a file before it is sent. The server decides by the bytes; this goes by what the
 * browser thinks it is. Pure.
 */

import { MAX_ATTACHMENTS } from "../../shared/limits.ts"

const MB = 1024 * 1024

const MAX_BYTES: readonly (readonly [type: RegExp, bytes: number])[] = [
  [/^image\//, 20 * MB],
  [/^audio\//, 25 * MB],
  [/^video\//, 100 * MB],
  [/^application\/pdf$/, 32 * MB],
  [/^text\//, 10 * MB],
]

/** For what the browser does not know: what the largest kind may have. */
const MAX_ANY_BYTES = 100 * MB

export function maxBytes({ type }: Pick<File, "type">): number {
  return MAX_BYTES.find(([kind]) => kind.test(type))?.[1] ?? MAX_ANY_BYTES
}

export const LIMITS_TOLD = `up to ${MAX_ATTACHMENTS}: pictures, audio, video, PDF and text`
