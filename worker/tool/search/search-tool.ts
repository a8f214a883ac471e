/**
 * search-tool.ts: finds pages about a subject. Its results become the numbered sources of the answer (SPEC SC1).
 *
 * A deployment without a search service has a small built-in library, whose results say that they are samples.
 */

import type { Env } from "../../env.ts"
import { defineTool } from "../define-tool.ts"

export type SearchEnv = Partial<Pick<Env, "SEARCH_SERVICE" | "SEARCH_API_KEY" | "SEARCH_URL">>

const MAX_QUERY_CHARS = 200
/** Time limit of one call, in milliseconds. */
const SEARCH_MS = 10_000

/** Creates the tool (SPEC SC6, BT8). Errors: `tool_arguments`; `{error, details}` for a fault of the service. */
export const createSearchTool = (env: SearchEnv, timeoutMs: number = SEARCH_MS) =>
  defineTool({
    description: [
      "Searches for pages about a subject, and returns their addresses, titles and quotes as sources.",
      "State what you take from a source, and link to its address there: [words](address). The user sees its number.",
      "With sample set, the pages are examples and don't exist; say so.",
    ].join(" "),
    args: {
      type: "object",
      properties: { query: { type: "string", minLength: 1, maxLength: MAX_QUERY_CHARS } },
      required: ["query"],
      additionalProperties: false,
    },
    effects: "read",
    repeatable: true,
    card: "search",
    async run({ query }, { signal }) {
      const { searchPages } = await import("./search-pages.ts")
      return await searchPages(query, env, signal, timeoutMs)
    },
  })
