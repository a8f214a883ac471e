/** theme.test.ts: tests how themes are parsed, their contrast, their CSS properties, and how logos are parsed. */

import { readFileSync } from "node:fs"
import fc from "fast-check"
import * as v from "valibot"
import { describe, expect, test } from "vitest"
import { crc32 } from "../../shared/crc32.ts"
import { computeContrast, mixColors, parseColor } from "../../shared/theme/color.ts"
import { DEFAULT_THEME, SCHEMES, type Theme } from "../../shared/theme/page-theme.ts"
import { MAX_LOGO_SIDE, parseLogo } from "../../shared/theme/png-logo.ts"
import { CONTRAST_PAIRS, findLowContrast, FIXED_COLORS, listContrasts } from "../../shared/theme/theme-contrast.ts"
import { createThemeHead, themeToHeadJson } from "../../shared/theme/theme-head.ts"
import { themeToProperties } from "../../shared/theme/theme-properties.ts"
import { themeSchema } from "../../shared/theme/theme-schema.ts"
import { assertProperty } from "../support/seeded.ts"

const BASE = readFileSync("client/styles/base.css", "utf8")
const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, "0")}`)
const pair = fc.record({ light: color, dark: color })
const parse = (value: unknown) => v.safeParse(themeSchema, value)

const HOSTILE = [
  "red",
  "#fff",
  "#12345g",
  "#1234567",
  "#112233;background:url(https://evil.example/x)",
  "#112233}*{display:none",
  "url(//evil.example)",
  "var(--text)",
  "light-dark(#000000, #ffffff)",
  "#112233\n",
  " #112233",
  "expression(alert(1))",
  "</style><script>alert(1)</script>",
]

describe("contrast", () => {
  test.each([
    ["#000000", "#ffffff", 21],
    ["#767676", "#ffffff", 4.54],
    ["#777777", "#ffffff", 4.47],
    ["#ff0000", "#ffffff", 3.99],
    ["#1f75fe", "#1f75fe", 1],
  ])("[TH3] %s on %s is %d:1, as WCAG defines it", (one, other, ratio) => {
    expect(Math.floor(computeContrast(one, other) * 100) / 100).toBe(ratio)
  })

  test("[TH3] is symmetric, between 1 and 21, and largest against black or white", () => {
    assertProperty(
      fc.property(color, color, (one, other) => {
        const ratio = computeContrast(one, other)
        expect(ratio).toBe(computeContrast(other, one))
        expect(ratio).toBeGreaterThanOrEqual(1)
        expect(ratio).toBeLessThanOrEqual(21)
        const extremes = ["#000000", "#ffffff"].map((end) => computeContrast(one, end))
        expect(ratio).toBeLessThanOrEqual(Math.max(...extremes) + 1e-9)
      }),
    )
  })

  test("[TH3] a mixed colour is between its components", () => {
    assertProperty(
      fc.property(color, color, fc.double({ min: 0, max: 1, noNaN: true }), (one, other, share) => {
        const mixed = mixColors(one, other, share)
        expect(parseColor(mixed)).toBe(mixed)
        for (const at of [1, 3, 5]) {
          const [a = 0, b = 0, c = 0] = [one, other, mixed].map((hex) => Number.parseInt(hex.slice(at, at + 2), 16))
          expect(c).toBeGreaterThanOrEqual(Math.min(a, b))
          expect(c).toBeLessThanOrEqual(Math.max(a, b))
        }
      }),
    )
  })

  test("[TH3] a theme is accepted if and only if every pair of colours has enough contrast in both schemes", () => {
    assertProperty(
      fc.property(pair, pair, (accent, accent_text) => {
        const all = listContrasts({ accent, accent_text })
        expect(all).toHaveLength(SCHEMES.length * CONTRAST_PAIRS.length)
        const low = findLowContrast({ accent, accent_text })
        expect(low === null).toBe(all.every(({ ratio, least }) => ratio >= least))
      }),
    )
    expect(findLowContrast(DEFAULT_THEME)).toBeNull()
    expect(findLowContrast({ ...DEFAULT_THEME, accent: { light: "#5a43d6", dark: "#222222" } })).toMatchObject({
      scheme: "dark",
      pair: "accent_text/accent",
      least: 4.5,
    })
  })

  test("[TH3] the default theme and the fixed colours match the style sheet", () => {
    const expand = (hex: string): string => (hex.length === 4 ? hex.replace(/[0-9a-f]/g, "$&$&") : hex)
    const readPair = (name: string) => {
      const found = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{3,6}), (#[0-9a-f]{3,6})\\)`).exec(BASE) ?? []
      return { light: expand(found[1] ?? ""), dark: expand(found[2] ?? "") }
    }
    expect(DEFAULT_THEME.accent).toEqual(readPair("accent"))
    expect(DEFAULT_THEME.accent_text).toEqual(readPair("accent-text"))
    for (const [name, colors] of Object.entries(FIXED_COLORS)) expect([name, colors]).toEqual([name, readPair(name)])
    expect(BASE).toContain(`--radius: ${DEFAULT_THEME.radius}px`)
    expect(BASE).toContain("--density: 1;")
  })
})

describe("the parser", () => {
  test("[TH1] [TH2] gives omitted fields their defaults, and writes colours in lower case", () => {
    expect(parse({})).toMatchObject({ success: true, output: DEFAULT_THEME })
    const accent = { light: "#0B6E4F", dark: "#5FD3A6" }
    expect(parse({ accent }).output).toMatchObject({ accent: { light: "#0b6e4f", dark: "#5fd3a6" } })
    expect(parse({ suggestions: ["One", "One", " Two "] }).output).toMatchObject({ suggestions: ["One", "Two"] })
  })

  test.each(HOSTILE)("[TH2] %j is not a colour, font, density or radius", (text) => {
    for (const accent of [{ light: text, dark: "#a899ff" }, { light: "#5a43d6", dark: text }, text])
      expect(parse({ accent }).success).toBe(false)
    for (const field of ["font", "density", "radius"]) expect(parse({ [field]: text }).success).toBe(false)
  })

  test.each([
    { radius: -1 },
    { radius: 25 },
    { radius: 1.5 },
    { radius: "8" },
    { radius: Number.NaN },
    { font: "__proto__" },
    { density: "constructor" },
    { name: "x".repeat(41) },
    { name: "two\nlines" },
    { name: "\u202egnp.exe" },
    { name: "\ud800" },
    { welcome: "x".repeat(121) },
    { suggestions: [""] },
    { suggestions: Array.from({ length: 7 }, (_, n) => `Question ${n}`) },
    { suggestions: ["x".repeat(121)] },
    { css: "" },
    { accent: { light: "#5a43d6" } },
    { accent: { light: "#5a43d6", dark: "#a899ff", hover: "#000000" } },
  ])("[TH2] %j is refused", (theme) => {
    expect(parse(theme).success).toBe(false)
  })

  test("[TH2] accepts only values that it returns unchanged", () => {
    const field = fc.oneof(fc.constantFrom(...HOSTILE), color, fc.string(), fc.integer(), fc.constant(null))
    const shape = fc.record(
      { accent: fc.record({ light: field, dark: field }), font: field, radius: field, density: field, name: field },
      { requiredKeys: [] },
    )
    assertProperty(
      fc.property(shape, (value) => {
        const parsed = parse(value)
        if (parsed.success) expect(parse(parsed.output)).toMatchObject({ success: true, output: parsed.output })
      }),
    )
  })
})

describe("CSS properties", () => {
  const SAFE: Readonly<Record<string, RegExp>> = {
    "--accent": /^light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\)$/,
    "--accent-text": /^light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\)$/,
    "--bubble": /^light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\)$/,
    "--font": /^[\w\s,"-]+$/,
    "--radius": /^\d{1,2}px$/,
    "--density": /^[\d.]+$/,
  }

  test("[TH4] contain only colours, numbers and listed families, whatever was stored", () => {
    const text = fc.oneof(fc.constantFrom(...HOSTILE), fc.string())
    const stored = fc.record({
      accent: fc.record({ light: text, dark: text }),
      accent_text: fc.record({ light: fc.oneof(text, color), dark: fc.oneof(text, color) }),
      font: text,
      radius: fc.oneof(text, fc.double(), fc.integer()),
      density: text,
    })
    assertProperty(
      fc.property(stored, (value) => {
        const properties = themeToProperties({ ...DEFAULT_THEME, ...(value as unknown as Theme) })
        for (const [name, written] of Object.entries(properties)) expect(written).toMatch(SAFE[name] ?? /^$/)
      }),
    )
  })

  test("[TH4] the JSON in the page's head has no HTML characters, and is parsed to the same theme", () => {
    const line = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom('"><script>', "&quot;,", "a'b`c", "日本", "\ud800"),
    )
    assertProperty(
      fc.property(line, line, fc.array(line), (name, welcome, suggestions) => {
        const theme = { ...DEFAULT_THEME, name, welcome, suggestions, logo: null }
        const json = themeToHeadJson(theme)
        expect(json).not.toMatch(/[^\n -~]|[<>&'`]/)
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(createThemeHead(theme))))
      }),
    )
  })
})

function chunk(type: string, data: readonly number[]): number[] {
  const body = [...new TextEncoder().encode(type), ...data]
  const view = new DataView(new ArrayBuffer(8))
  view.setUint32(0, data.length)
  view.setUint32(4, crc32(Uint8Array.from(body)))
  const frame = [...new Uint8Array(view.buffer)]
  return [...frame.slice(0, 4), ...body, ...frame.slice(4)]
}

const side = (pixels: number): number[] => [pixels >>> 24, (pixels >>> 16) & 255, (pixels >>> 8) & 255, pixels & 255]
const header = (width: number, height: number) => chunk("IHDR", [...side(width), ...side(height), 8, 6, 0, 0, 0])
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const IMAGE = chunk("IDAT", [0x78, 0x9c, 1, 2, 3])
const END = chunk("IEND", [])
const pngOf = (...parts: readonly (readonly number[])[]) => Uint8Array.from([...SIGNATURE, ...parts.flat()])
const SCRIPT = [...new TextEncoder().encode("<script>alert(1)</script>")]

describe("a logo", () => {
  test("[TH6] keeps only the chunks of the image, and nothing that follows it", () => {
    const plain = pngOf(header(64, 32), IMAGE, END)
    expect(parseLogo(plain)).toEqual({ ok: true, value: plain })
    const crowded = pngOf(header(64, 32), chunk("tEXt", SCRIPT), chunk("acTL", [0]), IMAGE, chunk("iCCP", SCRIPT), END)
    expect(parseLogo(Uint8Array.from([...crowded, ...SCRIPT]))).toEqual({ ok: true, value: plain })
  })

  test.each([
    ["an SVG file", "type", new TextEncoder().encode("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")],
    ["a GIF file", "type", new TextEncoder().encode("GIF89a=1;alert(1)")],
    ["an empty file", "type", new Uint8Array(0)],
    ["a file with only a signature", "damaged", pngOf()],
    ["a file without an image", "damaged", pngOf(header(1, 1), END)],
    ["a file without an end", "damaged", pngOf(header(1, 1), IMAGE)],
    ["a file without a header", "damaged", pngOf(IMAGE, END)],
    ["a chunk that is cut off", "damaged", pngOf(header(1, 1), IMAGE, END).slice(0, -6)],
    ["a wrong checksum", "damaged", pngOf(header(1, 1), [...IMAGE.slice(0, -1), 0], END)],
    ["a length beyond the file", "damaged", pngOf([0xff, 0xff, 0xff, 0xff, ...header(1, 1).slice(4)], IMAGE, END)],
    ["an image of width 0", "damaged", pngOf(header(0, 1), IMAGE, END)],
    ["a side that is too long", "side", pngOf(header(MAX_LOGO_SIDE + 1, 1), IMAGE, END)],
    ["a decompression bomb", "side", pngOf(header(0xffffffff, 0xffffffff), IMAGE, END)],
  ])("[TH6] %s is refused (%s)", (_what, because, file) => {
    expect(parseLogo(file)).toEqual({ ok: false, fault: { reason: "logo_refused", because } })
  })

  test("[TH6] any bytes are parsed or refused, and what is parsed stays the same when it is parsed again", () => {
    const parts = fc.constantFrom(header(8, 8), IMAGE, END, chunk("tEXt", SCRIPT), SCRIPT, [0], [0xff])
    assertProperty(
      fc.property(fc.array(parts, { maxLength: 6 }), (all) => {
        const parsed = parseLogo(pngOf(...all))
        if (parsed.ok) expect(parseLogo(parsed.value)).toEqual(parsed)
      }),
    )
  })
})
