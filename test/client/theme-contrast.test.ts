/** theme-contrast.test.ts: the page's colours (client/styles/base.css) have sufficient contrast in both themes. */

import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { listStyleSheets, readSource } from "../support/source-tree.ts"

const BASE = readFileSync("client/styles/base.css", "utf8")

/** Returns the light and the dark value of a colour. */
function readColor(name: string): readonly [light: string, dark: string] {
  const [, light = "", dark = ""] =
    new RegExp(`--${name}: light-dark\\((#[0-9a-f]{3,6}), (#[0-9a-f]{3,6})\\)`).exec(BASE) ?? []
  return [expand(light), expand(dark)]
}

const expand = (hex: string): string => (hex.length === 4 ? hex.replace(/[0-9a-f]/g, "$&$&") : hex)

function computeLuminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function computeContrast(first: string, second: string): number {
  const [dark = 0, light = 0] = [computeLuminance(first), computeLuminance(second)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const TEXTS = ["text", "muted", "accent", "warning", "error"]
const GROUNDS = ["ground", "raised", "sunken"]

describe.each([
  ["light", 0],
  ["dark", 1],
] as const)("the %s theme", (_, theme) => {
  test.each([
    ...TEXTS.flatMap((text) => GROUNDS.map((ground) => [text, ground, 4.5] as const)),
    ["text", "bubble", 4.5] as const,
    ["muted", "bubble", 4.5] as const,
    ["accent-text", "accent", 4.5] as const,
    ...GROUNDS.map((ground) => ["line-field", ground, 3] as const),
  ])("[VD1] --%s on --%s has a contrast of at least %d", (text, ground, least) => {
    const [one, other] = [readColor(text)[theme], readColor(ground)[theme]]
    expect([one, other].join(" ")).toMatch(/^#[0-9a-f]{6} #[0-9a-f]{6}$/)
    expect(computeContrast(one, other)).toBeGreaterThanOrEqual(least)
  })
})

test("[VD1] a shadow root has the same colours and dimensions as a page", () => {
  expect(BASE).toContain(":root,\n:host {")
  for (const token of ["accent", "accent-text", "font", "radius", "density"])
    expect(BASE).toMatch(new RegExp(`^ {2}--${token}:`, "m"))
})

/** The properties that components set. */
const COMPONENT_PROPERTIES = ["--done", "--width", "--ratio"]

test.each(listStyleSheets("client"))("[VD1] %s uses only properties that are defined", (file) => {
  const css = readSource(file)
  const defined = new Set([...COMPONENT_PROPERTIES, ...((BASE + css).match(/--[\w-]+(?=:)/g) ?? [])])
  // If a property is used with a fallback, it needs no definition.
  const used = [...css.matchAll(/var\((--[\w-]+)\)/g)].map(([, name = ""]) => name)
  expect(used.filter((name) => !defined.has(name))).toEqual([])
})
