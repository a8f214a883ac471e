/** decimal-text.ts: formats decimal numbers for form fields, and parses them. Pure. */

/** Formats a number from 0 to 10^20 with all its digits and without an exponent: `0.0000001` instead of `1e-7`. */
export function formatDecimal(number: number): string {
  const [digits = "", exponent] = String(number).split("e-")
  return exponent === undefined ? digits : `0.${"0".repeat(Number(exponent) - 1)}${digits.replace(".", "")}`
}

/**
 * Parses a decimal number with a point or a comma. Returns NaN for anything else, and for `1,000`, which could mean one
 * or a thousand.
 */
export function parseDecimal(text: string): number {
  const number = text.trim().replace(",", ".")
  return /^\d+(?:\.\d+)?$/.test(number) && !hasSeparator(text) ? Number(number) : Number.NaN
}

/** Whether a number has, or may have, a thousands separator. */
export function hasSeparator(text: string): boolean {
  return /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?$|^[1-9]\d{0,2}(?:\.\d{3})+,\d*$/.test(text.trim())
}
