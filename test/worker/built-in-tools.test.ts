/** built-in-tools.test.ts: tests what the registry does for every built-in tool, and the cards that tools declare. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { checkSchema } from "../../shared/json-schema/check-schema.ts"
import { parseViewReference } from "../../shared/protocol/cards/card-view-url.ts"
import { tenantStub } from "../../worker/platform/rpc/object-stubs.ts"
import { createCardFinder } from "../../worker/tool/cards/card-finder.ts"
import { findShippedCard } from "../../worker/tool/cards/shipped-cards.ts"
import { defineTool } from "../../worker/tool/define-tool.ts"
import { createTools, BUILT_IN_TOOL_NAMES } from "../../worker/tool/built-in-tools.ts"
import { toolContext } from "./tools.ts"

const TOOLS = createTools({}, BUILT_IN_TOOL_NAMES, {
  renameSession: () => Promise.reject(new Error("called")),
  askAgent: () => Promise.reject(new Error("called")),
  peers: [{ name: "other", description: "Another agent." }],
})

describe("every built-in tool", () => {
  test("[TO13] the registry creates each tool under its name", () => {
    expect(TOOLS.map(({ name }) => name)).toEqual(BUILT_IN_TOOL_NAMES)
  })

  test.each(TOOLS)(
    "[TO12] $name has a schema with only supported keywords, and refuses arguments that don't match the schema",
    async (tool) => {
      expect(checkSchema(tool.parameters, "")).toBeNull()
      expect(tool.parameters["additionalProperties"]).toBe(false)
      const refused = { error: expect.any(String), code: "tool_arguments" }
      const unknown = await tool.execute({ surprise: 1 }, toolContext({ card: "x_1" }))
      expect(unknown).toMatchObject(refused)
      for (const [name, schema] of Object.entries(tool.parameters["properties"] ?? {})) {
        const wrong = (schema as { type: string }).type === "object" ? 7 : {}
        const result = await tool.execute({ [name]: wrong }, toolContext({ card: "x_1" }))
        expect(result).toMatchObject(refused)
        expect(tool.needsApproval?.({ [name]: wrong }) ?? false).toBe(false)
      }
    },
  )
})

describe("a tool's declaration", () => {
  const echo = defineTool({
    description: "For this test.",
    args: {
      type: "object",
      properties: {
        word: { type: "string", minLength: 1 },
        "a/b": { type: "array", items: { type: "integer", minimum: 0 } },
      },
      required: ["word"],
      additionalProperties: false,
    },
    effects: "write",
    repeatable: false,
    asksApproval: true,
    card: "component",
    run: ({ word, "a/b": numbers = [] }) =>
      word === "fail" ? { error: "no", details: "" } : { word, sum: numbers.length },
  })

  test("[TO12] the error for arguments that don't match the schema contains a pointer to the value", async () => {
    const detailsOf = async (args: object) => Object(await echo.execute(args as never, toolContext())).details
    expect(await detailsOf({ word: "x", "a/b": [1, 2, -3] })).toBe('"/a~1b/2" violates minimum (0).')
    expect(await detailsOf({ word: 5 })).toBe('"/word" must be of type string.')
    expect(await detailsOf({ word: "x", more: 1 })).toBe(`"/more" isn't allowed by the schema.`)
    expect(await detailsOf({})).toBe('The object needs the property "word".')
  })

  test("[TO12] strings are trimmed before the check, and approval is requested only for valid arguments", async () => {
    expect(await echo.execute({ word: " a " }, toolContext())).toEqual({ word: "a", sum: 0 })
    expect([{ word: "a" }, { word: "  " }].map((args) => echo.needsApproval?.(args))).toEqual([true, false])
  })

  test("[TO13] a component is shown for data, but not for an error", async () => {
    const context = toolContext({ card: "echo_1" })
    expect(String(await echo.execute({ word: "a" }, context))).toContain("<span id='echo_1'>")
    expect(await echo.execute({ word: "fail" }, context)).toEqual({ error: "no", details: "" })
  })
})

describe("a shipped card", () => {
  const LIST = { title: "Trip", items: [{ text: "Pack", done: false }] }

  test("[TO14] shows a result that matches its schema, and its template is served under its version", async () => {
    const view = await createCardFinder(env, "to14")("my_list", LIST, "list")
    const { name, revision } = parseViewReference(view ?? "") ?? { name: "", revision: "" }
    expect(name).toBe("list")
    const template = await tenantStub(env, "to14").getCardView(name, revision)
    expect(JSON.parse(template ?? "null")).toMatchObject({ title: expect.anything(), view: expect.any(Array) })
    expect(await tenantStub(env, "to14").getCardView(name, revision.replace(/./g, "0"))).toBeNull()
    expect(await createCardFinder(env, "to14")("my_list", { title: "Trip" }, "list")).toBeNull()
  })

  /**
   * The current versions, which stored messages refer to. If a template changes, add its old form to OLD_TEMPLATES and
   * put its new version here.
   */
  test.each([
    ["list", LIST, "66a925844fc42b383edc4d318dbeb925"],
    [
      "search",
      { query: "tea", sources: [{ title: "Tea", url: "https://example.com/" }] },
      "8d2555c8522099c22f8e0253f7897862",
    ],
    ["calculation", { expression: "6 * 7", result: 42 }, "a6a7db179b7fe1d96ed7d5015e86e163"],
    ["page", { url: "https://example.com/", title: "Tea", site: "example.com" }, "f56e1a2b57cc9cb8c931bccdc591c7c1"],
    ["timer", { label: "Tea", ends_at: "2026-05-02T14:05:00Z" }, "38a492c06048e1085af700c1900eed4a"],
  ] as const)("[TO14] the version of %s is the one that stored messages refer to", async (name, data, revision) => {
    expect(await findShippedCard(name, data)).toBe(`${name}@${revision}`)
  })

  test.each([
    ["list", "ee102167a7a61c499d3b97a5c2a38faf"],
    ["search", "cd487dbcfee15812795224d4e8482e91"],
    ["calculation", "94139c7eb088039d524c90aa3f8c78f0"],
    ["timer", "73a6e9977aa858c8141b776a58b1e21d"],
  ])("[TO14] an earlier version of %s is still served", async (name, revision) => {
    const view = await tenantStub(env, "to14").getCardView(name, revision)
    expect(JSON.parse(view ?? "null")).toMatchObject({ view: expect.any(Array) })
  })
})
