/** schema-parser.ts: parsers of response bodies from valibot schemas, for code that is loaded after the first view. Pure. */

import * as v from "valibot"

/** Returns a function that returns the parsed value, or null. */
export function createSchemaParser<T>(schema: v.GenericSchema<unknown, T>): (value: unknown) => T | null {
  return (value) => {
    const parsed = v.safeParse(schema, value)
    return parsed.success ? parsed.output : null
  }
}
