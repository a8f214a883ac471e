/**
 * hostile-corpus.ts: templates and tool results that try to run code, fetch URLs, forge content or exhaust resources.
 * Each template is a body of `PUT /v1/cards/:name`. Each entry has a name for the tests.
 */

import type { Json } from "../../../shared/json.ts"

export type HostileBody = { readonly [field: string]: Json | undefined }
type Named = readonly (readonly [name: string, body: HostileBody])[]

/** URLs that must become neither a link nor an image. */
export const SCRIPTS = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\nscript:alert(1)",
  "java\tscript:alert(1)",
  " javascript:alert(1)",
  "\u0001javascript:alert(1)",
  "javascript&colon;alert(1)",
  "javascript://example.com/%0aalert(1)",
  "vbscript:msgbox(1)",
  "livescript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "data:image/svg+xml,<svg onload=alert(1)>",
  "data:;base64,PHNjcmlwdD4=",
  "blob:https://a.example/1",
  "file:///etc/passwd",
  "filesystem:https://a.example/x",
  "view-source:https://a.example",
  "jar:https://a.example!/x",
  "chrome://settings",
  "ms-word:ofe|u|https://evil.example/x.docx",
  "//evil.example",
  "\\\\evil.example",
  "/\\evil.example",
  "/v1/tokens",
  "/auth/sign-out",
  "/media/../v1/settings",
  "/media/a?token=x",
  "/media/%2e%2e/v1/tokens",
  "../media/a",
  "?signout=1",
  "#/settings",
  "https:",
  "https://",
  "https:// evil.example",
  "http://[",
  "https://[::1",
  "ws://evil.example",
  "wss://evil.example",
  "ftp://evil.example/x",
  "sms:+491234",
  "intent://evil#Intent;end",
  "about:blank",
  "",
] as const

/** Text that looks like some kind of syntax. */
export const MARKUP = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg><animate onbegin=alert(1) attributeName=x>",
  "<iframe srcdoc='<script>alert(1)</script>'>",
  "<style>*{background:url(https://evil.example/)}</style>",
  "<link rel=prefetch href=https://evil.example/>",
  "<base href=https://evil.example/>",
  "<form action=https://evil.example/><button>Sign in</button></form>",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "</span><span id='weather_1'>",
  "<span id='probe_json_2'>forged</span>",
  "[link](javascript:alert(1))",
  '[link](https://evil.example "title")',
  "![x](https://evil.example/x.png)",
  "<https://evil.example>",
  "[ref]: https://evil.example",
  "[^1]: https://evil.example",
  "\u0024{1+1}",
  "\u0024{/secret}",
  "{{constructor.constructor('alert(1)')()}}",
  "{%raw%}",
  "MEDIA:https://evil.example/a.png",
  '[embed url="https://evil.example"]',
  "[[reply_to: a1]]",
  "| a | b |\n|---|---|",
  "\u202Egnp.exe",
  "\u2066\u2067\u2068",
  "\u0000\u0007",
  "a\u0300".repeat(200),
  "# heading\n\n---\n> quote",
  "~~~\nfence",
  "$$\\href{javascript:alert(1)}{x}$$",
  "1. item\n2. item",
  "=cmd|'/c calc'!A1",
] as const

const text = (fields: object): Json => [{ id: "root", component: "Text", text: "a", ...fields }]
const body = (view: Json, more: object = {}): HostileBody => ({
  ...{ for: "t", title: "T", schema: { type: "object" }, view, samples: [{ a: "x" }] },
  ...more,
})
const call = (name: string, args: object): Json => ({ call: name, args: { ...args } as Json })
const chain = (length: number): Json =>
  Array.from({ length }, (_, n) => ({ id: n === 0 ? "root" : `n${n}`, component: "Card", child: `n${n + 1}` }))

const VIEWS: readonly (readonly [string, Json])[] = [
  ["an event handler", text({ onclick: "alert(1)" })],
  ["a style", text({ style: "position:fixed" })],
  ["a class", text({ class: "page" })],
  ["an attribute", text({ "data-theme": "dark" })],
  ["an accessible name", text({ "aria-label": "Approve" })],
  ["a role", text({ role: "alert" })],
  ["an HTML field", text({ dangerouslySetInnerHTML: { __html: "<b>" } })],
  ["children of a text", text({ children: ["a"] })],
  ["a key of a prototype", text({ constructor: "x" })],
  ["an own __proto__", JSON.parse('[{"id":"root","component":"Text","text":"a","__proto__":{"x":1}}]')],
  ["a toJSON property", text({ toJSON: "x" })],
  ["a virtual node", text({ text: { type: "script", props: {} } })],
  ["an unknown kind", [{ id: "root", component: "Video", url: "https://a.example/v.mp4" }]],
  ["a frame", [{ id: "root", component: "Frame", url: "https://a.example" }]],
  ["markup as a kind", [{ id: "root", component: "script", text: "alert(1)" }]],
  ["a kind of a prototype", [{ id: "root", component: "constructor" }]],
  ["a kind that is a list", [{ id: "root", component: ["Text"], text: "a" }]],
  ["a kind in another case", [{ id: "root", component: "text", text: "a" }]],
  ["an id with a space", [{ id: "ro ot", component: "Text", text: "a" }]],
  ["an id of a prototype", [{ id: "__proto__", component: "Text", text: "a" }]],
  ["an id of 65 characters", [{ id: "r".repeat(65), component: "Text", text: "a" }]],
  ["an id that is a number", [{ id: 1, component: "Text", text: "a" }]],
  ["a function of a prototype", text({ text: call("toString", {}) })],
  ["a function without arguments", text({ text: { call: "formatNumber" } })],
  ["a function with a literal number", text({ text: call("formatNumber", { value: 1e308 }) })],
  ["a function with more arguments", text({ text: call("formatNumber", { value: { path: "/a" }, locale: "x" }) })],
  ["a function with more fields", text({ text: { call: "formatNumber", args: { value: { path: "/a" } }, else: "x" } })],
  ["a function in a function", text({ text: call("formatNumber", { value: call("join", { values: ["1"] }) }) })],
  ["a function that A2UI has", text({ text: call("formatString", { value: "\u0024{/a}" }) })],
  ["a function that opens a URL", text({ text: call("openUrl", { url: "https://evil.example" }) })],
  ["a regular expression as a function", text({ text: call("regex", { value: { path: "/a" }, pattern: "(a+)+$" }) })],
  ["too many joined texts", text({ text: call("join", { values: Array.from({ length: 21 }, () => "a") }) })],
  ["too many cases", text({ text: call("choose", { value: { path: "/a" }, cases: manyKeys(31) }) })],
  ["cases that are markup nodes", text({ text: call("choose", { value: { path: "/a" }, cases: { x: { b: 1 } } }) })],
  ["a binding with an additional field", text({ text: { path: "/a", call: "x" } })],
  ["a binding that is a number", text({ text: { path: 1 } })],
  ["a binding that is a URL", text({ text: { path: "https://evil.example/data.json" } })],
  ["a binding with a bad escape", text({ text: { path: "/a~2" } })],
  ["a binding of 201 characters", text({ text: { path: `/${"a".repeat(200)}` } })],
  ["a binding to a prototype", text({ text: { path: "/__proto__/toString" } })],
  ["a binding to a constructor", text({ text: { path: "/constructor/name" } })],
  ["a binding to the length of a text", text({ text: { path: "/a/length" } })],
  ["a relative binding outside of a list", text({ text: { path: "a" } })],
  ["a text that is a number", text({ text: 5 })],
  ["a text that is a list", text({ text: ["a"] })],
  ["a text of 2,001 characters", text({ text: "a".repeat(2_001) })],
  ["too many decimals", text({ text: call("formatNumber", { value: { path: "/a" }, decimals: 99 }) })],
  ["a fractional number of decimals", text({ text: call("formatNumber", { value: { path: "/a" }, decimals: 0.5 }) })],
  ["a date pattern", text({ text: call("formatDate", { value: { path: "/a" }, style: "yyyy" }) })],
  [
    "a URL that a function returns",
    [{ id: "root", component: "Link", text: "a", url: call("join", { values: ["https://", { path: "/a" }] }) }],
  ],
  [
    "an image URL that a function returns",
    [{ id: "root", component: "Image", description: "a", url: call("choose", { value: { path: "/a" }, cases: {} }) }],
  ],
  ["a link with two URLs", [{ id: "root", component: "Link", text: "a", url: ["https://a.example"] }]],
  ["an image over http", [{ id: "root", component: "Image", description: "a", url: "http://a.example/x.png" }]],
  ["an image of 2,049 characters", [image(`https://a.example/${"a".repeat(2_049)}`)]],
  ["an icon given as a path", [{ id: "root", component: "Icon", name: { svgPath: "M0 0" } }]],
  ["an icon that is markup", [{ id: "root", component: "Icon", name: "<svg onload=alert(1)>" }]],
  ["a tone that is a style", [{ id: "root", component: "Badge", text: "a", tone: "red;}" }]],
  ["a negative weight", text({ weight: -1 })],
  ["a huge weight", text({ weight: 1e300 })],
  ["a weight that is a style", text({ weight: "1;position:fixed" })],
  [
    "a progress bar with a maximum of 0",
    [{ id: "root", component: "Progress", label: "a", value: { path: "/a" }, max: 0 }],
  ],
  ["two components that contain each other", [...(chain(1) as Json[]), { id: "n1", component: "Card", child: "root" }]],
  ["a component that contains itself", [{ id: "root", component: "Card", child: "root" }]],
  ["a component that is missing", [{ id: "root", component: "Card", child: "none" }]],
  [
    "a component used twice",
    [{ id: "root", component: "Row", children: ["a", "a"] }, ...(text({ id: "a" }) as Json[])],
  ],
  ["an id used twice", [...(text({}) as Json[]), ...(text({}) as Json[])]],
  ["a component that is never shown", [...(text({}) as Json[]), ...(text({ id: "b" }) as Json[])]],
  [
    "a list whose item is the list itself",
    [{ id: "root", component: "List", children: { componentId: "root", path: "/a" } }],
  ],
  [
    "a list with an expression",
    [{ id: "root", component: "List", children: { componentId: "a", path: "/a", if: "x" } }],
  ],
  ["13 levels", [...(chain(12) as Json[]), ...(text({ id: "n12" }) as Json[])]],
  ["201 components", Array.from({ length: 201 }, (_, n) => ({ id: `a${n}`, component: "Divider" }))],
  ["101 children", [{ id: "root", component: "Row", children: Array.from({ length: 101 }, (_, n) => `a${n}`) }]],
  ["no children", [{ id: "root", component: "Row", children: [] }]],
  [
    "nine tabs",
    [{ id: "root", component: "Tabs", tabs: Array.from({ length: 9 }, () => ({ title: "a", child: "a" })) }],
  ],
  ["13 columns", [table(Array.from({ length: 13 }, () => ({ title: "a", value: { path: "a" } })))]],
  ["a column with a handler", [table([{ title: "a", value: { path: "a" }, onclick: "alert(1)" }])]],
  ["a column with a computed name", [table([{ title: { path: "/a" }, value: { path: "a" } }])]],
  ["a pie chart", [{ id: "root", component: "Chart", kind: "pie", title: "a", rows: { path: "/a" } }]],
  ["a timer in a text", [{ id: "root", component: "Timer", label: "a", endsAt: "2030-01-01" }]],
  ["an empty view", []],
  ["a view that is an object", { root: {} }],
  ["a view that is a text", "<b>a</b>"],
  ["null as a component", [null]],
  ["a list as a component", [[]]],
]

const SCHEMAS: readonly (readonly [string, object])[] = [
  ["a regular expression", { type: "string", pattern: "(a+)+$" }],
  ["patternProperties", { patternProperties: { "(a+)+$": {} } }],
  ["propertyNames", { propertyNames: { pattern: "(a+)+$" } }],
  ["a remote reference", { $ref: "https://evil.example/schema.json" }],
  ["a reference to a file", { $ref: "file:///etc/passwd" }],
  ["a reference to itself", { $ref: "#" }],
  ["a reference in a property", { properties: { a: { $ref: "#/properties/a" } } }],
  ["a dynamic reference", { $dynamicRef: "#a" }],
  ["an id", { $id: "https://evil.example/" }],
  ["definitions", { $defs: { a: { $ref: "#/$defs/a" } } }],
  ["a condition", { if: {}, else: {} }],
  ["allOf", { allOf: [{}] }],
  ["oneOf", { oneOf: [{}] }],
  ["not", { not: {} }],
  ["unique items", { uniqueItems: true }],
  ["contains", { contains: {} }],
  ["prefixItems", { prefixItems: [{}] }],
  ["multipleOf", { multipleOf: 1e-300 }],
  ["an unknown keyword", { "x-evil": 1 }],
  ["a keyword of a prototype", JSON.parse('{"__proto__": {"type": "string"}}')],
  ["a type that is an object", { type: {} }],
  ["an unknown type", { type: "bigint" }],
  ["a negative count", { minItems: -1 }],
  ["a limit that is a string", { maximum: "9" }],
  ["objects in an enum", { enum: [{}] }],
  ["a schema that is a list", { properties: { a: [] } }],
  ["many levels", Array.from({ length: 40 }).reduce<object>((items) => ({ items }), {})],
  ["many schemas", { anyOf: Array.from({ length: 2_000 }, () => ({})) }],
]

const BODIES: readonly (readonly [string, object])[] = [
  ["an additional field", { script: "alert(1)" }],
  ["HTML", { html: "<b>" }],
  ["the card of a built-in tool", { for: "weather" }],
  ["a tool with a path", { for: "../weather" }],
  ["no tool", { for: "" }],
  ["a list of tools", { for: ["a", "b"] }],
  ["a title that is a node", { title: { type: "b" } }],
  ["a title of 2,001 characters", { title: "a".repeat(2_001) }],
  ["no samples", { samples: [] }],
  ["six samples", { samples: Array.from({ length: 6 }, () => ({ a: "x" })) }],
  ["a sample that is a list", { samples: [[]] }],
  ["a sample of 70 KB", { samples: [{ a: "x".repeat(70_000) }] }],
  ["a sample that doesn't match the schema", { schema: { type: "object", required: ["b"] } }],
]

const button = (fields: object = {}): Json => ({ id: "b", component: "Button", label: "Go", action: "go", ...fields })
const fieldOf = (fields: object = {}): Json => ({ id: "f", component: "TextField", name: "f", label: "F", ...fields })
const formOf = (parts: readonly Json[], actions: unknown = { go: { tool: "t", args: {} } }): HostileBody => {
  const children = parts.map((part) => (part as { readonly id: string }).id)
  return body([{ id: "root", component: "Column", children }, ...parts], { actions })
}

const FORMS: readonly (readonly [string, HostileBody])[] = [
  ["a button with a handler", formOf([button({ onclick: "alert(1)" })])],
  ["a button with a URL", formOf([button({ url: "https://evil.example" })])],
  ["a button without an action", formOf([button()], {})],
  ["a button for a prototype's action", formOf([button({ action: "constructor" })])],
  [
    "a button in a list",
    formOf([{ id: "l", component: "List", children: { componentId: "b", path: "/a" } }, button()]),
  ],
  ["an action without a button", formOf([button()], { go: { tool: "t", args: {} }, other: { tool: "t", args: {} } })],
  ["an action that fetches", formOf([button()], { go: { url: "https://evil.example", args: {} } })],
  ["an action that sets its own approval", formOf([button()], { go: { tool: "t", args: {}, approval: "never" } })],
  ["a tool with a path", formOf([button()], { go: { tool: "../t", args: {} } })],
  ["a tool given by a binding", formOf([button()], { go: { tool: { path: "/a" }, args: {} } })],
  ["an argument with two sources", formOf([button()], { go: { tool: "t", args: { a: { path: "/a", field: "f" } } } })],
  ["an argument with a function", formOf([button()], { go: { tool: "t", args: { a: call("join", { values: [] }) } } })],
  ["an argument from a missing field", formOf([button()], { go: { tool: "t", args: { a: { field: "g" } } } })],
  [
    "an argument of 2,001 characters",
    formOf([button()], { go: { tool: "t", args: { a: { value: "x".repeat(2_001) } } } }),
  ],
  ["a relative argument", formOf([button()], { go: { tool: "t", args: { a: { path: "a" } } } })],
  ["arguments that are a list", formOf([button()], { go: { tool: "t", args: [] } })],
  ["actions that are a list", formOf([button()], [])],
  ["two fields with the same name", formOf([button(), fieldOf(), fieldOf({ id: "g" })])],
  ["a field named after a prototype", formOf([button(), fieldOf({ name: "__proto__" })])],
  ["a field for a password", formOf([button(), fieldOf({ variant: "obscured" })])],
  ["a field with a pattern", formOf([button(), fieldOf({ pattern: "(a+)+$" })])],
  ["21 fields", formOf([button(), ...Array.from({ length: 21 }, (_, n) => fieldOf({ id: `f${n}`, name: `f${n}` }))])],
  ["a choice without options", formOf([button(), fieldOf({ component: "ChoicePicker" })])],
  ["a file as a field", formOf([button(), fieldOf({ component: "FileInput" })])],
]

/** Templates that must be refused. */
export const HOSTILE_TEMPLATES: Named = [
  ...SCRIPTS.map((url) => [`a link to ${JSON.stringify(url)}`, body([link(url)])] as const),
  ...SCRIPTS.map((url) => [`an image at ${JSON.stringify(url)}`, body([image(url)])] as const),
  ...VIEWS.map(([name, view]) => [`a view with ${name}`, body(view)] as const),
  ...SCHEMAS.map(([name, schema]) => [`a schema with ${name}`, body(text({}), { schema })] as const),
  ...FORMS.map(([name, form]) => [`a form with ${name}`, form] as const),
  ...BODIES.map(([name, more]) => [`a body with ${name}`, body(text({}), more)] as const),
]

/** A view that shows `/a` in every way in which a template can. */
export const EVERYTHING: Json = [
  { id: "root", component: "Column", children: ["t", "l", "i", "b", "p", "m", "j", "tabs", "table", "list"] },
  { id: "t", component: "Text", text: { path: "/a" } },
  { id: "l", component: "Link", text: "link", url: { path: "/a" } },
  { id: "i", component: "Image", description: { path: "/a" }, url: { path: "/a" } },
  {
    ...{ id: "b", component: "Badge", text: { path: "/a" } },
    tone: call("choose", { value: { path: "/a" }, cases: { x: "good" } }),
  },
  { id: "p", component: "Progress", label: { path: "/a" }, value: { path: "/n" } },
  { id: "m", component: "Timer", label: { path: "/a" }, endsAt: { path: "/n" } },
  { id: "j", component: "Text", text: call("join", { values: ["It is ", { path: "/a" }] }) },
  { id: "tabs", component: "Tabs", tabs: [{ title: { path: "/a" }, child: "inTab" }] },
  { id: "inTab", component: "Text", text: { path: "/a" } },
  { id: "table", component: "Table", rows: { path: "/rows" }, columns: [{ title: "A", value: { path: "a" } }] },
  { id: "list", component: "List", children: { componentId: "item", path: "/rows" } },
  { id: "item", component: "Row", children: ["icon", "name"] },
  { id: "icon", component: "Icon", name: { path: "a" } },
  { id: "name", component: "Text", text: { path: "a" } },
]

/** Results for valid templates. Their contents must be drawn as text, or be omitted. */
export const HOSTILE_RESULTS: Named = [...SCRIPTS, ...MARKUP]
  .filter((value) => value !== "")
  .map((a) => [
    `the result ${JSON.stringify(a.slice(0, 60))}`,
    body(EVERYTHING, { title: { path: "/a" }, samples: [{ a, n: 1, rows: [{ a }, { a: "star" }] }] }),
  ])

function link(url: string): Json {
  return { id: "root", component: "Link", text: "a", url }
}

function image(url: string): Json {
  return { id: "root", component: "Image", description: "a", url }
}

function table(columns: Json): Json {
  return { id: "root", component: "Table", rows: { path: "/a" }, columns }
}

function manyKeys(count: number): Json {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, "a"]))
}
