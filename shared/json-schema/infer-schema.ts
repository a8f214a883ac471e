/** infer-schema.ts: the TypeScript type of the values that a JSON Schema accepts. Types only. */

import type { Json } from "../json.ts"

/**
 * A schema with the keywords that tools use for their arguments. Write it with `as const`, so that TypeScript infers
 * its literal types.
 */
export interface ArgsSchema {
  readonly type: "object"
  readonly properties: { readonly [name: string]: Json }
  readonly required?: readonly string[]
  readonly additionalProperties: false
}

/** The type of the values that match a schema. Properties that aren't required are optional. */
export type FromSchema<S> = S extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : S extends { readonly type: "string" }
    ? string
    : S extends { readonly type: "number" | "integer" }
      ? number
      : S extends { readonly type: "boolean" }
        ? boolean
        : S extends { readonly type: "array"; readonly items: infer Item }
          ? readonly FromSchema<Item>[]
          : S extends { readonly type: "object"; readonly properties: infer Properties }
            ? FromProperties<Properties, RequiredNames<S>>
            : Json

type RequiredNames<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never

type FromProperties<Properties, Required> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: FromSchema<Properties[Name]>
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?: FromSchema<Properties[Name]> | undefined
}
