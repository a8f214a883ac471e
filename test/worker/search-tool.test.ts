/** search-tool.test.ts: tests the tool `search` with its built-in library, both alone and in a session. */

import { describe, expect, test } from "vitest"
import { createSearchTool } from "../../worker/tool/search/search-tool.ts"
import { connect } from "../support/socket.ts"
import { answerTo, beginTurn, expectSame, freshSession } from "./session-helpers.ts"
import { toolContext } from "./tools.ts"

const search = (args: object) => createSearchTool({}).execute(args as never, toolContext())

describe("the search tool", () => {
  test("[SC6] finds the pages that contain the most words of the query, and marks them as samples", async () => {
    const result = (await search({ query: "Steeping black tea" })) as { sample: boolean; sources: { url: string }[] }
    expect(result.sample).toBe(true)
    expect(result.sources[0]?.url).toBe("https://example.com/library/tea/steeping")
    expect(result.sources.length).toBeLessThanOrEqual(5)
  })

  test("[SC6] a query without a known word finds nothing; an invalid one is an error", async () => {
    expect(await search({ query: "zzz" })).toEqual({ query: "zzz", sample: true, sources: [] })
    for (const query of [undefined, "", " ", 7, "x".repeat(201)])
      expect(await search({ query })).toMatchObject({ code: "tool_arguments" })
  })

  test("[SC3] [SC6] the pages that it finds are the sources of the answer, both live and after a reload", async () => {
    const id = await freshSession("search")
    const client = await connect(id)
    await beginTurn(client, "q1", "Search for tides", 2)
    await client.untilEnd("q1")
    const segments = answerTo(client, "q1")?.segments ?? []
    expect(segments.at(-1)).toEqual({
      type: "source",
      url: "https://example.com/library/sea/tides",
      title: "Why there are tides",
      quote: expect.stringContaining("high tides"),
    })
    expect(segments.at(-2)).toMatchObject({
      type: "text",
      content: expect.stringContaining("[Why there are tides](https://example.com/library/sea/tides)"),
    })
    await expectSame(id, client)
  })
})
