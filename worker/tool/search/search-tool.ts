/**
 * search-tool.ts: finds pages about a subject. Its results become the numbered sources of the answer (SPEC SC1).
 *
 * A deployment without a search service has a small built-in library, whose results say that they are samples.
 */

import { defineTool } from "../define-tool.ts"

const MAX_QUERY_CHARS = 200
/** Results of a call. */
const MAX_RESULTS = 5

/** Creates the tool (SPEC SC6). Error: `tool_arguments`. */
export const createSearchTool = () =>
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
    async run({ query }) {
      const { searchSampleLibrary } = await import("./sample-library.ts")
      return { query, sample: true, sources: [...searchSampleLibrary(query, MAX_RESULTS)] }
    },
  })
