/** define-tool.ts: turns the declaration of a built-in tool into a tool. Decision 0072. */

import type { Json } from "../../shared/json.ts"
import type { ArgsSchema, FromSchema } from "../../shared/json-schema/infer-schema.ts"
import { checkValue, type SchemaProblem } from "../../shared/json-schema/match-schema.ts"
import type { KnownUrls } from "../store/annotations/known-urls.ts"
import {
  createCardTrailer,
  createRefusal,
  DeferredResult,
  InputNeeded,
  type Tool,
  type ToolArgs,
  type ToolContext,
  type ToolReturn,
  toolResult,
} from "./tool.ts"

/** Everything that the framework needs to know about a built-in tool. */
export interface ToolDeclaration<Schema extends ArgsSchema> {
  /** Tells the model what the tool does, and when to call it. */
  readonly description: string
  /** The schema of the arguments. The model sees it, and a call that doesn't match it is refused. */
  readonly args: Schema
  /** `read`: a call has no effect besides its result, so it need not be stored before it runs. */
  readonly effects: "read" | "write"
  /** Whether a call can be run again after a crash, because a second run has no further effect. */
  readonly repeatable: boolean
  /** Whether the user must approve calls: all of them, or those for which the function returns true. Default: no. */
  readonly asksApproval?: boolean | ((args: FromSchema<Schema>, knownUrls: KnownUrls) => boolean)
  /** Whether calls are left out of the model's context in later turns. Default: no. */
  readonly ephemeral?: boolean
  /** Time limit in milliseconds, if it differs from the other tools' limit. */
  readonly ms?: number
  /** What shows the result: a component of the page with the tool's name, or a shipped template. Default: no card. */
  readonly card?: Tool["card"]
  /** Receives arguments that match the schema. Strings at the top level are trimmed. */
  run(args: FromSchema<Schema>, context: ToolContext): Promise<ToolReturn> | ToolReturn
}

/** A tool without its name, which the registry adds (built-in-tools.ts). */
export type UnnamedTool = Omit<Tool, "name">

const NO_KNOWN_URLS: KnownUrls = { has: () => false }

/**
 * Creates the tool. A call whose arguments don't match the schema fails with `tool_arguments` and the JSON Pointer of
 * the first mismatch (SPEC TO12).
 */
export function defineTool<const Schema extends ArgsSchema>(declaration: ToolDeclaration<Schema>): UnnamedTool {
  const {
    description,
    args: schema,
    effects,
    repeatable,
    asksApproval = false,
    ephemeral = false,
    ms,
    card,
  } = declaration
  // An `ArgsSchema` is a schema that uses only some of the keywords, so this cast is safe.
  const parameters = schema as unknown as Tool["parameters"]
  return {
    description,
    parameters,
    repeatable,
    readsOnly: effects === "read",
    ephemeral,
    ...(ms !== undefined && { ms }),
    ...(card !== undefined && { card }),
    ...(asksApproval !== false && {
      needsApproval(args: ToolArgs, knownUrls: KnownUrls = NO_KNOWN_URLS): boolean {
        const trimmed = trimTexts(args)
        if (checkValue(parameters, trimmed) !== null) return false
        return asksApproval === true || asksApproval(trimmed as FromSchema<Schema>, knownUrls)
      },
    }),
    async execute(args, context) {
      const trimmed = trimTexts(args)
      const problem = checkValue(parameters, trimmed)
      if (problem !== null) return createRefusal("tool_arguments", describeProblem(problem))
      const returned = await declaration.run(trimmed as FromSchema<Schema>, context)
      return card === "component" ? addComponentCard(returned, context) : returned
    },
  }
}

function trimTexts(args: ToolArgs): ToolArgs {
  const entries = Object.entries(args).map(([key, value]): [string, Json] => [
    key,
    typeof value === "string" ? value.trim() : value,
  ])
  return Object.fromEntries(entries)
}

export function describeProblem({ pointer, problem }: SchemaProblem): string {
  return `${pointer === "" ? "The object" : `"${pointer}"`} ${problem}.`
}

/** Adds the trailer of a card. A failure has no trailer, because it must not become a card. */
function addComponentCard(returned: ToolReturn, context: ToolContext): ToolReturn {
  const isLater = returned instanceof DeferredResult || returned instanceof InputNeeded
  const isData = typeof returned === "object" && !isLater && !(Symbol.asyncIterator in returned)
  return isData && !Object.hasOwn(returned, "error") ? toolResult(context, returned, createCardTrailer) : returned
}
