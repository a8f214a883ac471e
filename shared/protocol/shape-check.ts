/**
 * shape-check.ts: small checks of parsed JSON for the page, where a schema library would exceed the size budget.
 *
 * A check accepts or rejects a value. A parser returns the value with its type, or null. Pure.
 */

export type Check = (value: unknown) => boolean
export type Parser<T> = (value: unknown) => T | null

export const isString: Check = (value) => typeof value === "string"
export const isNumber: Check = (value) => typeof value === "number"
export const isBoolean: Check = (value) => typeof value === "boolean"

export function isListOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check)
}

export function isOptional(check: Check): Check {
  return (value) => value === undefined || check(value)
}

/** Creates a check for objects in which each field of T passes its own check. Unknown fields are ignored. */
export function hasShape<T>(checks: { readonly [K in keyof T]-?: Check }): Check {
  const entries = Object.entries<Check>(checks)
  return (value) => {
    const fields = Object(value)
    return entries.every(([name, check]) => check(fields[name]))
  }
}

export function createParser<T>(checks: { readonly [K in keyof T]-?: Check }): Parser<T> {
  const isValid = hasShape<T>(checks)
  return (value) => (isValid(value) ? (value as T) : null)
}
