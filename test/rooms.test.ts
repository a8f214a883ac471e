/**
 * rooms.test.ts: what may import what, and what a room may not do. A failure names the file, the line and the reason.
 *
 * worker and client meet only in shared; shared is pure; the page makes nodes, never markup; files stay readable.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { expect, test } from "vitest"

const ROOT = resolve(import.meta.dirname, "..")
const ROOMS = ["shared", "worker", "client", "testing"] as const
type Room = (typeof ROOMS)[number]

/** Which rooms each room may reach by a relative import, itself always. */
const DOORS: Record<Room, readonly Room[]> = {
  shared: [],
  worker: ["shared"],
  client: ["shared"],
  testing: ["shared", "worker"],
}

/** Pure libraries: data in, data out. */
const SHARED_PACKAGES = new Set(["htmlparser2", "ipaddr.js", "valibot"])

const IMPURE = /\b(?:Date\.now|Math\.random|new Date|performance\.|crypto\.|fetch\(|setTimeout|setInterval|console\.)/
const MARKUP = /\b(?:innerHTML|outerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|document\.write(?:ln)?)\b/
const BARRED_NAME = /^(?:.*[-.])?(?:utils?|helpers?|common|managers?)\.tsx?$/
/** The Worker's entry is named by the platform, that of `cuecard/testing` by its export; no other file is an index. */
const ENTRIES = new Set(["worker/index.ts", "testing/index.ts"])
const MAX_FILE_LINES = 400

type Line = { readonly file: string; readonly number: number; readonly text: string }

function filesOf(room: Room): string[] {
  const folder = join(ROOT, room)
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:m?[jt]s|[jt]sx)$/.test(name) && !name.includes("node_modules"))
    .map((name) => relative(ROOT, join(folder, name)))
}

/** Comments blanked, newlines kept, so that what is said about a thing is not taken for the thing. */
function withoutComments(code: string): string {
  const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/g
  return code.replace(tokens, (token) => (token.startsWith("/") ? token.replace(/[^\n]/g, " ") : token))
}

function linesOf(file: string): Line[] {
  const code = withoutComments(readFileSync(join(ROOT, file), "utf8"))
  return code.split("\n").map((text, index) => ({ file, number: index + 1, text }))
}

const at = ({ file, number, text }: Line, why: string): string => `${file}:${number}: ${why}: ${text.trim()}`

/** Every specifier of `import … from`, `export … from`, `import "…"` and `import("…")`, with its line. */
function importsOf(file: string): { line: Line; specifier: string }[] {
  return linesOf(file).flatMap((line) =>
    [...line.text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"']+)["']/g)].map(([, specifier = ""]) => ({
      line,
      specifier,
    })),
  )
}

/** The room a relative import leads to; undefined for a package. */
function roomOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined
  return relative(ROOT, resolve(ROOT, file, "..", specifier)).split("/")[0]
}

/** What is wrong with an import, or undefined. */
function faultOf(room: Room, file: string, specifier: string): string | undefined {
  const target = roomOf(file, specifier)
  if (target === undefined) {
    const pure = room !== "shared" || SHARED_PACKAGES.has(specifier)
    return pure ? undefined : `shared imports only ${[...SHARED_PACKAGES].join(", ")}`
  }
  if (target !== room && !DOORS[room].some((open) => open === target)) return `${room} may not import ${target}`
  return /\.(?:tsx?|css|json|svg)$/.test(specifier) ? undefined : "a relative import carries its extension"
}

const matching = (room: Room, pattern: RegExp, why: string): string[] =>
  filesOf(room).flatMap((file) =>
    linesOf(file)
      .filter((line) => pattern.test(line.text))
      .map((line) => at(line, why)),
  )

test.each(ROOMS)("[RO1] %s imports only the rooms that are open to it", (room) => {
  const faults = filesOf(room).flatMap((file) =>
    importsOf(file).flatMap(({ line, specifier }) => {
      const why = faultOf(room, file, specifier)
      return why === undefined ? [] : [at(line, why)]
    }),
  )
  expect(faults).toEqual([])
})

test("[RO2] shared has no clock, no chance and no I/O", () => {
  expect(matching("shared", IMPURE, "shared takes time, ids and chance as arguments")).toEqual([])
})

test("[RO3] the page never makes nodes from strings of markup", () => {
  expect(matching("client", MARKUP, "the page makes nodes, never markup")).toEqual([])
})

test("[RO4] no source file is longer than the limit", () => {
  const long = ROOMS.flatMap(filesOf).flatMap((file) => {
    const lines = readFileSync(join(ROOT, file), "utf8").trimEnd().split("\n").length
    return lines > MAX_FILE_LINES ? [`${file}: ${lines} lines, at most ${MAX_FILE_LINES}`] : []
  })
  expect(long).toEqual([])
})

test("[RO4] no file is named after nothing, and none only passes others on", () => {
  const barred = ROOMS.flatMap(filesOf).filter((file) => {
    const name = file.split("/").at(-1) ?? ""
    return BARRED_NAME.test(name) || (/^index\.tsx?$/.test(name) && !ENTRIES.has(file))
  })
  expect(barred).toEqual([])
})

test.each([
  ["client", "client/a.ts", "../worker/b.ts", "client may not import worker"],
  ["worker", "worker/a.ts", "../client/b.tsx", "worker may not import client"],
  ["shared", "shared/card/a.ts", "../../worker/b.ts", "shared may not import worker"],
  ["shared", "shared/a.ts", "node:fs", "shared imports only htmlparser2, ipaddr.js, valibot"],
  ["shared", "shared/a.ts", "./b", "a relative import carries its extension"],
  ["client", "client/a.ts", "../shared/b.ts", undefined],
  ["client", "client/a.ts", "preact", undefined],
] as const)("[RO1] this very check tells %s: %s → %s", (room, file, specifier, why) => {
  expect(faultOf(room, file, specifier)).toBe(why)
})
