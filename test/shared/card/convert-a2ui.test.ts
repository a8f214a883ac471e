/**
 * convert-a2ui.test.ts: converts A2UI's own examples to cards, and tests which of them keep their structure and what
 * becomes of their text.
 */

import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { describe, expect, test } from "vitest"
import { type A2uiSurface, readSurface } from "../../../scripts/cards/a2ui-surface.ts"
import { convertSurface } from "../../../scripts/cards/convert-a2ui.ts"
import { findDateStyle, parsePieces } from "../../../scripts/cards/convert-text.ts"
import type { CardTemplate } from "../../../shared/card/view/card-template.ts"
import { checkTemplate } from "../../../shared/card/view/check-template.ts"
import { fillView } from "../../../shared/card/view/fill-view.ts"
import { ENGLISH_LABELS } from "../../../shared/card/view/view-labels.ts"
import { viewToMarkdown } from "../../../shared/card/view/view-markdown.ts"
import { isJsonObject, type Json } from "../../../shared/json.ts"

const FOLDER = "test/shared/card/a2ui"
const ENGLISH = { locale: "en", timeZone: "UTC", labels: ENGLISH_LABELS }

const files = ["basic", "minimal"].flatMap((catalog) =>
  readdirSync(`${FOLDER}/${catalog}`).map((file) => `${catalog}/${file}`),
)

function readExample(file: string): A2uiSurface {
  const surface = readSurface(readFileSync(`${FOLDER}/${file}`, "utf8"))
  if (surface === null) throw new Error(`${file} has no components.`)
  return surface
}

interface TreeNode {
  readonly kind: string
  /** Whether there is one child per item of an array. */
  readonly isRepeated: boolean
  readonly children: readonly TreeNode[]
}

type Component = { readonly [field: string]: Json }

const FIELDS = ["TextField", "CheckBox", "ChoicePicker", "DateTimeInput"]
/** The kinds of A2UI components that cards also have. On a card, a button's label is a field, not a component. */
const KINDS = new Set([
  ...["Text", "Image", "Icon", "Row", "Column", "List", "Card", "Tabs", "Divider", "Button"],
  ...FIELDS,
])

/** Returns the tree below a component, or null if the tree contains a kind that cards don't have. */
function readTree(components: ReadonlyMap<string, Component>, id: string): TreeNode | null {
  const { component, child, children = null, tabs } = components.get(id) as Component
  const kind = String(component)
  if (!KINDS.has(kind)) return null
  const isRepeated = isJsonObject(children)
  const named = Array.isArray(children) ? children.map(String) : []
  const inner = isRepeated ? [String(children["componentId"])] : named
  const inTabs = Array.isArray(tabs) ? tabs.map((tab: Component) => String(tab["child"])) : []
  const only = child !== undefined && kind !== "Button" ? [String(child)] : []
  const nodes = [...inner, ...inTabs, ...only].map((one) => readTree(components, one))
  return nodes.includes(null) ? null : { kind, isRepeated, children: nodes as TreeNode[] }
}

function keepsStructure(surface: A2uiSurface): boolean {
  const expected = readTree(surface.components, "root")
  const { view } = convertSurface(surface, "tool").template as unknown as CardTemplate
  const converted = readTree(new Map(view.map((component) => [component.id, component])), "root")
  return expected !== null && JSON.stringify(converted) === JSON.stringify(expected)
}

const markdownOf = (file: string): string => {
  const template = convertSurface(readExample(file), "tool").template as unknown as CardTemplate
  const filled = fillView(template, template.samples[0] as Json, ENGLISH)
  return filled === null ? "" : viewToMarkdown(filled)
}

describe("A2UI's examples", () => {
  test.each(files)("[CV40] %s becomes a template that the server accepts", (file) => {
    const { template } = convertSurface(readExample(file), "tool")
    expect(checkTemplate(template)).toMatchObject({ ok: true })
  })

  test("[CV40] at least 30 of 43 keep their structure, and what the others lose is listed", () => {
    expect(files).toHaveLength(43)
    const lost = files.filter((file) => !keepsStructure(readExample(file)))
    expect(lost.map((file) => file.replace(/^.*\/\d+_|\.json$/g, ""))).toEqual([
      "music-player",
      "podcast-episode",
      "movie-card",
      "modal",
      "incremental",
    ])
    for (const file of lost) {
      const { notes } = convertSurface(readExample(file), "tool")
      expect(notes.join("\n"), file).toMatch(/isn't possible here|a slider is/)
    }
  })

  test("[CV40] a button's event becomes an action: a tool with the event's name, and arguments from fields and the result", () => {
    const login = convertSurface(readExample("minimal/4_login_form.json"), "tool").template as unknown as CardTemplate
    expect(login.actions).toEqual({
      login_submitted: { tool: "login_submitted", args: { user: { field: "username" }, pass: { field: "password" } } },
    })
    const checked = convertSurface(readExample("basic/09_login-form.json"), "tool").template as unknown as CardTemplate
    expect(checked.view.find(({ id }) => id === "email-field")).toMatchObject({
      ...{ component: "TextField", name: "email", label: "Email", required: true },
    })
    const invitation = convertSurface(readExample("basic/30_live-invitation-builder.json"), "tool")
    const { view } = invitation.template as unknown as CardTemplate
    expect(view.find(({ component }) => component === "ChoicePicker")).toMatchObject({
      value: { path: "/event/location/0" },
      options: [{ value: "ballroom", label: "Grand Ballroom" }, { value: "terrace" }, { value: "garden" }],
    })
    expect(invitation.notes).toContain("date-input: a date can be entered, but no time")
  })

  test("[CV40] the cards contain the surfaces' text and numbers", () => {
    expect(markdownOf("basic/05_product-card.json")).toContain("★★★★★ · (2,847 reviews)")
    expect(markdownOf("basic/05_product-card.json")).toContain("**$199.99** · $249.99")
    expect(markdownOf("basic/04_weather-current.json")).toContain("**72°** · **58°**")
    expect(markdownOf("basic/23_step-counter.json")).toMatch(/% of [\d,]+ goal/)
    expect(markdownOf("minimal/7_incremental.json")).toContain("Spice Route")
    expect(markdownOf("basic/31_incremental-dashboard.json")).not.toContain("Loading")
  })
})

describe("the converter", () => {
  test("[CV40] reads a list of messages, and one message per line", () => {
    const { messages } = JSON.parse(readFileSync(`${FOLDER}/minimal/7_incremental.json`, "utf8"))
    const expected = convertSurface(readExample("minimal/7_incremental.json"), "tool").template["view"]
    const lines = messages.map((message: object) => JSON.stringify(message)).join("\n")
    for (const text of [JSON.stringify(messages), lines]) {
      const surface = readSurface(text)
      expect(surface === null ? null : convertSurface(surface, "tool").template["view"]).toEqual(expected)
    }
    for (const text of ["", "no JSON", "[]", "{}", "5", '[{"updateComponents": 1}]'])
      expect(readSurface(text)).toBeNull()
  })

  test.each([
    ["plain", ["plain"]],
    ["\u0024{/a}°", [{ path: "/a" }, "°"]],
    ["\\\u0024{/a}", ["\u0024{/a}"]],
    [
      "\u0024{f(value: \u0024{/a}, one: 'x, y}', two: 2)}.",
      [{ call: "f", args: { value: { path: "/a" }, one: "x, y}", two: 2 } }, "."],
    ],
    ["\u0024{/open", [{ path: "/open" }]],
  ])("[CV40] %j is split into pieces", (text, pieces) => {
    expect(parsePieces(text)).toEqual(pieces)
  })

  test.each([
    ["h:mm a", "time"],
    ["EEEE, MMM d 'at' h:mm a", "dateTime"],
    ["MMM d, yyyy", "date"],
    ["E, MMM d", "weekday"],
    ["d", "monthDay"],
  ])("[CV40] the pattern %j has the style %s", (pattern, style) => {
    expect(findDateStyle(pattern)).toBe(style)
  })

  test("[CV40] a cycle, a missing component and endless growth are refused, and a hostile path has no effect", () => {
    const surface = (components: readonly object[], value: unknown = {}) =>
      readSurface(JSON.stringify([{ updateComponents: { components } }, { updateDataModel: { value } }])) as A2uiSurface
    const convert = (one: A2uiSurface) => checkTemplate(convertSurface(one, "tool").template)
    expect(convert(surface([{ id: "root", component: "Card", child: "root" }])).ok).toBe(false)
    expect(convert(surface([{ id: "root", component: "Card", child: "none" }])).ok).toBe(false)
    const evil = surface([{ id: "root", component: "Text", text: { path: "/__proto__/polluted" } }])
    expect(convert(evil).ok).toBe(true)
    expect(({} as { polluted?: string }).polluted).toBeUndefined()
    const grown = Array.from({ length: 20 }, (_, n) => ({
      ...{ id: n === 0 ? "root" : `n${n}`, component: "Row", children: [`n${n + 1}`, `n${n + 1}`] },
    }))
    expect(convert(surface(grown)).ok).toBe(false)
  })
})

describe("npm run cards", () => {
  const runCards = (...args: string[]) =>
    spawnSync(process.execPath, ["scripts/cards/cards.ts", ...args], { encoding: "utf8" })

  test("[CV40] [CV43] converts a file, lists the differences, and checks the result", () => {
    const converted = runCards("convert", `${FOLDER}/basic/05_product-card.json`, "--for", "shop")
    expect(converted.status).toBe(0)
    expect(converted.stderr).toContain("image: an image has no description")
    const file = join(mkdtempSync(join(tmpdir(), "cuecard-cards-")), "card.json")
    writeFileSync(file, converted.stdout)
    expect(JSON.parse(converted.stdout)).toMatchObject({ for: "shop", title: "Product Card" })
    expect(runCards("check", file)).toMatchObject({ status: 0, stderr: "" })
    writeFileSync(file, converted.stdout.replace('"path": "/price"', '"path": "/prise"'))
    expect(runCards("check", file)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^"\/view\/\d+\/text\/args\/value" finds no value in any sample\n$/),
    })
    for (const args of [[], ["convert"], ["convert", "README.md"], ["check", "README.md"], ["check", "none.json"]])
      expect(runCards(...args).status, args.join(" ")).toBe(1)
  })
})
