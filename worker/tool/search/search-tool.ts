/**
 * search-tool.ts: finds pages about a subject. Its results become the numbered sources of the answer (SPEC SC1).
 *
 * A deployment without a search service has a small built-in library, whose results say that they are samples.
 */

import * as v from "valibot"
import { createRefusal, type Tool } from "../tool.ts"

const MAX_QUERY_CHARS = 200
/** Results of a call. */
const MAX_RESULTS = 5

const argsSchema = v.object({ query: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(MAX_QUERY_CHARS)) })

/** Creates the tool (SPEC SC6). Error: `tool_arguments`. */
export function createSearchTool(): Tool {
  return {
    name: "search",
    description: [
      "Searches for pages about a subject, and returns their addresses, titles and quotes as sources.",
      "State what you take from a source, and link to its address there: [words](address). The user sees its number.",
      "With sample set, the pages are examples and don't exist; say so.",
    ].join(" "),
    parameters: {
      type: "object",
      properties: { query: { type: "string", maxLength: MAX_QUERY_CHARS } },
      required: ["query"],
      additionalProperties: false,
    },
    repeatable: true,
    readsOnly: true,
    ephemeral: false,
    async execute(args) {
      const parsed = v.safeParse(argsSchema, args)
      if (!parsed.success)
        return createRefusal("tool_arguments", `"query" is missing or longer than ${MAX_QUERY_CHARS} characters.`)
      const { query } = parsed.output
      const { searchSampleLibrary } = await import("./sample-library.ts")
      return { query, sample: true, sources: [...searchSampleLibrary(query, MAX_RESULTS)] }
    },
  }
}
