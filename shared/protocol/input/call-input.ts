/**
 * call-input.ts: the form in which a running tool call asks the user for input, and the user's answer. SPEC MP30 to
 * MP33.
 *
 * The form is part of the wire format: a tool segment contains it while its call is waiting for the answer. Types only.
 */

/** A call's question: a message and fields. All text comes from the MCP server and is shown as plain text. */
export interface CallInput {
  /**
   * Identifies the question among the questions of its call, so that a late answer isn't taken for the answer to the
   * next one.
   */
  readonly id: string
  /** The name of the MCP server that asks the question. */
  readonly server: string
  readonly message: string
  readonly fields: readonly InputField[]
}

export interface InputOption {
  readonly value: string
  readonly label: string
}

export type InputFormat = "email" | "uri" | "date" | "date-time"

/** `min` and `max` limit a text's length, a number, or how many options are chosen. */
export type InputField = {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly isRequired: boolean
} & (
  | {
      readonly kind: "text"
      readonly format?: InputFormat
      readonly min?: number
      readonly max?: number
      readonly initial?: string
    }
  | {
      readonly kind: "number" | "integer"
      readonly min?: number
      readonly max?: number
      readonly initial?: number
    }
  | { readonly kind: "check"; readonly initial?: boolean }
  | { readonly kind: "choice"; readonly options: readonly InputOption[]; readonly initial?: string }
  | {
      readonly kind: "choices"
      readonly options: readonly InputOption[]
      readonly min?: number
      readonly max?: number
      readonly initial?: readonly string[]
    }
)

export type InputValue = string | number | boolean | readonly string[]

/** The values, by field name. Empty fields are left out. */
export type InputContent = { readonly [name: string]: InputValue }

/** `cancel`: the user did something else instead, or the time to answer ran out. */
export type InputAnswer =
  | { readonly action: "accept"; readonly content: InputContent }
  | { readonly action: "decline" | "cancel" }
