/**
 * base62.ts: random strings and checksums in base62 (`0-9A-Za-z`), which contains no separators and needs no escaping
 * in URLs.
 */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Bytes at or above this value are skipped, because they would make the first digits more likely than the others. */
const FAIR_BYTES = 256 - (256 % DIGITS.length)

/** Returns a random string with 5.95 bits per character. */
export function createRandomBase62(length: number): string {
  let text = ""
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < FAIR_BYTES && text.length < length) text += DIGITS[byte % DIGITS.length]
    }
  }
  return text
}

/** Formats a non-negative integer with at least `length` digits. */
export function intToBase62(value: number, length: number): string {
  let text = ""
  for (let rest = value; rest > 0; rest = Math.floor(rest / DIGITS.length)) text = DIGITS[rest % DIGITS.length] + text
  return text.padStart(length, "0")
}
