/** card-actions.test.ts: tests which actions a template can have, and where the arguments of a click come from. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { buildActionCall } from "../../../shared/card/actions/build-action-call.ts"
import type { Json } from "../../../shared/json.ts"
import { checkTemplate } from "../../../shared/card/view/check-template.ts"
import { assertProperty } from "../../support/seeded.ts"
import { readTemplate } from "./card-templates.ts"

const FORM = readTemplate("form")
const [OFFER] = FORM.samples as readonly [Json]

type Node = { [key: string]: Node | Json | undefined }

/** Returns the template with another value at a pointer; undefined removes the value. */
function setAt(template: Json, pointer: string, value: Json | undefined): Json {
  const copy = JSON.parse(JSON.stringify(template))
  const keys = pointer.split("/").slice(1)
  const last = keys.pop() ?? ""
  const parent = keys.reduce((node: Node, key) => node[key] as Node, copy)
  if (value === undefined) delete parent[last]
  else Object.defineProperty(parent, last, { value, enumerable: true, configurable: true, writable: true })
  return copy
}

/** Returns the form with one component for each guest. */
function withList(item: Json): Json {
  const form = setAt(FORM as unknown as Json, "/samples/0/guests", [{}])
  const typed = setAt(form, "/schema/properties/guests", { type: "array" })
  const list = { id: "list", component: "List", children: { componentId: "extra", path: "/guests" } }
  const listed = setAt(setAt(typed, "/view/13", list), "/view/14", item)
  return setAt(listed, "/view/0/children/8", "list")
}

describe("a template's actions", () => {
  test("[KA1] the shipped form is valid", () => {
    expect(checkTemplate(FORM as unknown as Json)).toMatchObject({ ok: true })
  })

  const date = "/actions/book/args/date"
  test.each<[string, string, Json | undefined, string]>([
    ["a button without its action", "/actions/book", undefined, "/view/11/action"],
    ["an action without a button", "/actions/more", { tool: "x", args: {} }, "/actions/more"],
    ["an invalid tool name", "/actions/book/tool", "no tool", "/actions/book/tool"],
    ["an unknown field of an action", "/actions/book/url", "x", "/actions/book/url"],
    ["no arguments", "/actions/book/args", undefined, "/actions/book/args"],
    ["an argument with two sources", date, { field: "date", path: "/date" }, date],
    ["a field that isn't there", date, { field: "day" }, `${date}/field`],
    ["a pointer without a slash", date, { path: "offer" }, `${date}/path`],
    ["a long literal", date, { value: "x".repeat(3_000) }, date],
    ["a flag that is a string", "/actions/book/repeatable", "yes", "/actions/book/repeatable"],
    ["two fields with the same name", "/view/8/name", "date", "/view/8/name"],
    ["options that aren't a list", "/view/7/options", "Inside", "/view/7/options"],
    ["a name from the prototype", "/view/11/action", "__proto__", "/view/11/action"],
    ["actions that are a list", "/actions", [], "/view/11/action"],
  ])("[KA1] %s: the template is refused, with a pointer to the problem", (_what, at, value, pointer) => {
    expect(checkTemplate(setAt(FORM as unknown as Json, at, value))).toMatchObject({ ok: false, pointer })
  })

  test("[KA8] are refused if the template has a form field for each item of a list", () => {
    const item = { id: "extra", component: "CheckBox", name: "extra", label: "Extra" }
    expect(checkTemplate(withList(item))).toMatchObject({ ok: false, pointer: "/view/14" })
  })

  test("[KA8] are refused if a per-item action has a second button", () => {
    const item = { id: "extra", component: "Button", label: "Book", action: "book" }
    expect(checkTemplate(withList(item))).toMatchObject({ ok: false, pointer: "/view/14/action" })
  })
})

const ROOMS = {
  for: "rooms",
  title: "Rooms",
  schema: { type: "object" },
  view: [
    { id: "root", component: "Column", children: ["list", "all"] },
    { id: "list", component: "List", children: { componentId: "room", path: "/rooms" } },
    { id: "room", component: "Card", child: "line" },
    { id: "line", component: "Row", children: ["name", "pick"] },
    { id: "name", component: "Text", text: { path: "name" } },
    { id: "pick", component: "Button", label: { path: "name" }, action: "pick" },
    { id: "all", component: "Button", label: "All", action: "all" },
  ],
  actions: {
    pick: { tool: "reserve", args: { room: { path: "id" }, hotel: { path: "/hotel" }, missing: { path: "none" } } },
    all: { tool: "reserve", args: { hotel: { path: "/hotel" } } },
  },
  samples: [
    {
      hotel: "h1",
      rooms: [
        { id: 7, name: "Sea" },
        { id: 8, name: "Garden" },
      ],
    },
  ],
}

describe("a button in a list", () => {
  const [hotel = null] = ROOMS.samples as unknown as readonly Json[]
  const build = (click: { readonly name: string; readonly item?: number }) =>
    buildActionCall(ROOMS as never, hotel, click)

  test("[KA8] is valid; its pointers can be relative to the item, and those of other buttons can't", () => {
    expect(checkTemplate(ROOMS as unknown as Json)).toMatchObject({ ok: true })
    const relative = setAt(ROOMS as unknown as Json, "/actions/all/args/hotel/path", "hotel")
    expect(checkTemplate(relative)).toMatchObject({ ok: false, pointer: "/actions/all/args/hotel/path" })
  })

  test("[KA8] is refused in a list that is in another list", () => {
    const inner = { id: "line", component: "List", children: { componentId: "pick", path: "beds" } }
    const nested = setAt(ROOMS as unknown as Json, "/view/3", inner)
    const view = (nested as unknown as { view: { id: string }[] }).view.filter(({ id }) => id !== "name")
    expect(checkTemplate(setAt(nested, "/view", view as unknown as Json))).toMatchObject({
      ok: false,
      pointer: "/view/4",
    })
  })

  test("[KA2] [KA9] sends the values of its item, which the stored result must contain", () => {
    expect(build({ name: "pick", item: 1 })).toMatchObject({
      ok: true,
      call: { tool: "reserve", args: '{"room":8,"hotel":"h1"}', words: "Garden" },
    })
    expect(build({ name: "pick", item: 0 })).toMatchObject({ call: { args: '{"room":7,"hotel":"h1"}' } })
    expect(build({ name: "all" })).toMatchObject({ call: { args: '{"hotel":"h1"}' } })
    for (const click of [{ name: "pick" }, { name: "pick", item: 2 }, { name: "all", item: 0 }])
      expect(build(click)).toMatchObject({ ok: false, problem: { because: "unknown" } })
  })
})

describe("a click's call", () => {
  test("[KA2] an action needs only the fields that it names", () => {
    expect(buildActionCall(FORM, OFFER, { name: "decline" })).toMatchObject({
      ok: true,
      call: { tool: "decline_table", args: '{"offer":"o-71"}', words: "No, thanks" },
    })
    expect(buildActionCall(FORM, OFFER, { name: "decline", fields: { guests: 2 } })).toMatchObject({ ok: false })
  })

  test("[KA2] whatever the client sends, arguments come from the result, valid fields and the template", () => {
    const value = fc.oneof(fc.string(), fc.double(), fc.boolean())
    const name = fc.oneof(
      fc.constantFrom("date", "guests", "seat", "wishes", "window", "offer", "__proto__"),
      fc.string(),
    )
    const fields = fc.dictionary(name, value)
    assertProperty(
      fc.property(fc.constantFrom("book", "decline", "steal", "toString"), fields, (action, given) => {
        const built = buildActionCall(FORM, OFFER, { name: action, fields: given as never })
        if (!built.ok) return
        const args = JSON.parse(built.call.args) as Record<string, unknown>
        expect(args["offer"]).toBe("o-71")
        for (const [key, arg] of Object.entries(args)) if (key !== "offer") expect(arg).toEqual(given[key])
        if (action === "book") {
          expect(args["guests"]).toEqual(expect.any(Number))
          expect(args["date"]).toMatch(/^\d{4}-\d\d-\d\d$/)
          expect(["inside", "terrace", undefined]).toContain(args["seat"])
        }
      }),
      3_000,
    )
  })
})
