/**
 * schema-parser.ts: creates parsers of response bodies from valibot schemas, for code that is loaded after the initial
 * render. Pure.
 */

import * as v from "valibot"

/** Creates a parser that returns the parsed value, or null if the value doesn't match the schema. */
export function createSchemaParser<T>(schema: v.GenericSchema<unknown, T>): (value: unknown) => T | null {
  return (value) => {
    const parsed = v.safeParse(schema, value)
    return parsed.success ? parsed.output : null
  }
}
