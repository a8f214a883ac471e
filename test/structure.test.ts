/**
 * structure.test.ts: checks the imports of each folder, and the sizes of files, folders and functions.
 *
 * A failure names the file, the line and the reason. `LADDERS` is the map of the code: a folder imports only folders
 * that come before it in its list. The README.md of each folder describes its contents.
 */

import { existsSync, readdirSync } from "node:fs"
import { join, posix } from "node:path"
import { describe, expect, test } from "vitest"
import {
  blankComments,
  getStem,
  type Import,
  listFunctions,
  listImports,
  listLiteralSpreads,
  listSourceFiles,
  listStyleSheets,
  ROOT,
  readSource,
  resolveImport,
} from "./support/source-tree.ts"

const TOP_FOLDERS = ["shared", "worker", "client", "sdk", "widget", "testing", "scripts"] as const
type TopFolder = (typeof TOP_FOLDERS)[number]

/** The other top folders that each top folder may import. */
const OPEN_TO: Record<TopFolder, readonly TopFolder[]> = {
  shared: [],
  worker: ["shared"],
  client: ["shared"],
  sdk: ["shared", "client"],
  widget: ["shared", "client"],
  testing: ["shared", "worker"],
  scripts: ["shared", "testing"],
}

/**
 * The import order within each top folder, lowest first. A name stands for a folder with its subfolders, or for a file
 * directly in the top folder. `.` stands for all other files directly in the top folder.
 */
const LADDERS: Partial<Record<TopFolder, readonly string[]>> = {
  shared: [".", "theme", "protocol", "text", "usage", "sanitize", "segment", "ingest", "json-schema", "card", "index"],
  worker:
    "platform settings backup env telemetry limits usage auth search organizing directory store asset shared-copy socket model tool mcp webhook turn transfer agent leaving tenant signin session routes index".split(
      " ",
    ),
  client:
    "service-worker words net files session ui account connections writing composer import search sidebar media apps markdown cards transcript shared-view admin settings app".split(
      " ",
    ),
}

/** Packages that shared/ may import, because they neither perform I/O nor read a clock. */
const SHARED_PACKAGES = new Set(["htmlparser2", "ipaddr.js", "valibot"])
const IMPURE = /\b(?:Date\.now|Math\.random|new Date|performance\.|crypto\.|fetch\(|setTimeout|setInterval|console\.)/
const MARKUP = /\b(?:innerHTML|outerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|document\.write(?:ln)?)\b/
/** Browser globals that do not exist in Node, or that belong to the page and not to the SDK. */
const DOM =
  /(?<![.\w])(?:document|window|navigator|localStorage|sessionStorage|XMLHttpRequest|HTML\w*Element)\b(?!\s*[:?])/
/** Folders of the page that contain no component and do not use the DOM. Only these are part of `cuecard/client`. */
const SDK_FOLDERS = ["client/net", "client/files", "client/session"]
/** The files that report the progress of uploads with XMLHttpRequest, where it exists. */
const XHR_FILES = new Set(["client/files/send-file-xhr.ts", "sdk/upload-file.ts"])
const BARRED_NAME = /^(?:.*[-.])?(?:utils?|helpers?|common|managers?)$/
/** Entry files. The platform prescribes the name of the Worker's entry; package.json names the others. */
const ENTRIES = new Set(["worker/index.ts", "testing/index.ts", "shared/index.ts", "sdk/index.ts"])
const MAX_FILE_LINES = 400
/**
 * Maximum number of lines in each Durable Object's file. Objects should only delegate. User and tenant objects have
 * many methods, each with one to three lines.
 */
const MAX_OBJECT_LINES: Readonly<Record<string, number>> = {
  "worker/session/session-object.ts": 200,
  "worker/session/producers/streamed-session.ts": 50,
  "worker/directory/directory-object.ts": 270,
  "worker/directory/directory-library.ts": 185,
  "worker/session/annotations/annotated-session.ts": 90,
  "worker/tenant/feedback/feedback-counter.ts": 25,
  "worker/tenant/cards/card-tenant.ts": 60,
  "worker/tenant/theme/theme-tenant.ts": 50,
  "worker/tenant/tenant-object.ts": 395,
  "worker/tenant/registry-object.ts": 60,
}
/**
 * The classes that a Worker class may extend: platform classes, and the class with the session object's transfer calls.
 */
const BASE_CLASSES = new Set([
  "AnnotatedSession",
  "CardTenant",
  "DirectoryLibrary",
  "DurableObject",
  "Error",
  "FeedbackCounter",
  "Map",
  "PortableSession",
  "StreamedSession",
  "ThemeTenant",
  "ModelTenant",
  "QuestionTenant",
  "McpTenant",
  "WebhookTenant",
])
const MAX_FOLDER_FILES = 18
const MAX_FUNCTION_LINES = 60
const MAX_FUNCTION_LINES_P90 = 18

const files = TOP_FOLDERS.flatMap((folder) => listSourceFiles(folder))
const styleSheets = listStyleSheets("client")
const topFolderOf = (file: string): TopFolder | undefined => TOP_FOLDERS.find((top) => file.startsWith(`${top}/`))

/** Returns the position of a file in the ladder of its top folder, or -1 if the ladder does not name it. */
function findRung(file: string): number {
  const [top = "", ...path] = file.split("/")
  const ladder = LADDERS[top as TopFolder] ?? []
  if (path.length > 1) return ladder.indexOf(path[0] ?? "")
  const own = ladder.indexOf(getStem(file))
  return own >= 0 ? own : ladder.indexOf(".")
}

/** Returns what is wrong with an import, or null. */
export function findImportFault(item: Pick<Import, "file" | "specifier">): string | null {
  const top = topFolderOf(item.file)
  if (top === undefined) return null
  if (!item.specifier.startsWith(".")) {
    const isAllowed = top !== "shared" || SHARED_PACKAGES.has(item.specifier)
    return isAllowed ? null : `shared imports only ${[...SHARED_PACKAGES].join(", ")}`
  }
  if (!/\.(?:tsx?|css|css\?inline|json|svg)$/.test(item.specifier))
    return "a relative import must include the file extension"
  const target = resolveImport(item)
  const targetTop = topFolderOf(target)
  if (target === "shared/index.ts") return "shared/index.ts is for other projects"
  if (top === "sdk" && targetTop === "client" && !SDK_FOLDERS.some((folder) => target.startsWith(`${folder}/`))) {
    return `sdk imports only ${SDK_FOLDERS.join(", ")}`
  }
  if (targetTop !== top) {
    return OPEN_TO[top].some((open) => open === targetTop) ? null : `${top} may not import ${targetTop ?? target}`
  }
  if (LADDERS[top] === undefined || /\.css(?:\?inline)?$/.test(target)) return null
  const [from, to] = [findRung(item.file), findRung(target)]
  if (from < 0 || to < 0) return "the ladder in test/structure.test.ts does not name this folder"
  return to > from ? `${LADDERS[top][from]} may not import ${LADDERS[top][to]}, which is above it` : null
}

/** Returns the lines of code that match a pattern, without comments. */
function findLines(folders: readonly string[], pattern: RegExp): string[] {
  return folders.flatMap(listSourceFiles).flatMap((file) =>
    blankComments(readSource(file))
      .split("\n")
      .flatMap((text, index) => (pattern.test(text) ? [`${file}:${index + 1}: ${text.trim()}`] : [])),
  )
}

/** Returns a cycle of run-time imports as a list of files, or null if there is none. */
function findCycle(): string[] | null {
  const importsByFile = new Map(
    files.map((file) => [
      file,
      listImports(file)
        .filter(({ isTypeOnly, specifier }) => !isTypeOnly && specifier.startsWith("."))
        .map(resolveImport),
    ]),
  )
  const finished = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (finished.has(file)) return null
    for (const target of importsByFile.get(file) ?? []) {
      const cycle = visit(target, [...path, file])
      if (cycle !== null) return cycle
    }
    finished.add(file)
    return null
  }
  for (const file of files) {
    const cycle = visit(file, [])
    if (cycle !== null) return cycle
  }
  return null
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  return [...Map.groupBy(items, keyOf)]
}

describe("imports", () => {
  test.each(TOP_FOLDERS)("[RO1] %s imports only what its position in the ladder allows", (top) => {
    const faults = listSourceFiles(top)
      .flatMap(listImports)
      .flatMap((item) => {
        const fault = findImportFault(item)
        return fault === null ? [] : [`${item.file}:${item.line}: ${item.specifier}: ${fault}`]
      })
    expect(faults).toEqual([])
  })

  test("[RO1] no file imports itself through other files", () => {
    expect(findCycle()).toBe(null)
  })

  test.each([
    ["client/app/a.ts", "../../worker/b.ts", "client may not import worker"],
    ["worker/turn/a.ts", "../../client/b.tsx", "worker may not import client"],
    ["shared/card/a.ts", "../../worker/b.ts", "shared may not import worker"],
    ["shared/a.ts", "node:fs", "shared imports only htmlparser2, ipaddr.js, valibot"],
    ["shared/a.ts", "./b", "a relative import must include the file extension"],
    ["worker/store/a.ts", "../turn/b.ts", "store may not import turn, which is above it"],
    ["client/net/a.ts", "../app/b.tsx", "net may not import app, which is above it"],
    ["worker/turn/a.ts", "../../shared/index.ts", "shared/index.ts is for other projects"],
    ["sdk/a.ts", "../client/app/b.tsx", "sdk imports only client/net, client/files, client/session"],
    ["client/app/a.ts", "../../sdk/b.ts", "client may not import sdk"],
    ["worker/new/a.ts", "../turn/b.ts", "the ladder in test/structure.test.ts does not name this folder"],
    ["client/app/a.ts", "../../shared/b.ts", null],
    ["worker/turn/a.ts", "../store/b.ts", null],
    ["client/app/a.ts", "preact", null],
  ])("[RO1] the check itself judges %s → %s", (file, specifier, fault) => {
    expect(findImportFault({ file, specifier })).toBe(fault)
  })
})

describe("purity", () => {
  test("[RO2] shared has no clock, no randomness and no I/O", () => {
    expect(findLines(["shared"], IMPURE)).toEqual([])
  })

  test("[RO3] the page never creates nodes from strings of markup", () => {
    expect(findLines(["client", "widget"], MARKUP)).toEqual([])
  })

  test("[RO5] the folders of `cuecard/client` use no DOM and contain no component", () => {
    const folders = [...SDK_FOLDERS, "sdk"]
    const components = folders.flatMap(listSourceFiles).filter((file) => file.endsWith(".tsx"))
    const uses = findLines(folders, DOM).filter(
      (line) => !(XHR_FILES.has(line.split(":")[0] ?? "") && line.includes("XMLHttpRequest")),
    )
    expect([...components, ...uses]).toEqual([])
  })
})

describe("modules with a single purpose", () => {
  /** Returns the lines of code that match, except in the only module where they are allowed. */
  const findLinesElsewhere = (pattern: RegExp, home: string): string[] =>
    findLines(["worker"], pattern).filter((line) => !line.startsWith(`${home}:`))

  test("[RG4] only one module gets the stubs of objects", () => {
    const pattern =
      /\b(?:getByName|idFromName|idFromString|newUniqueId|jurisdiction)\(|\benv\.(?:SESSION|DIRECTORY|TENANT)\b/
    expect(findLinesElsewhere(pattern, "worker/platform/rpc/object-stubs.ts")).toEqual([])
  })

  test("[RG4] only one module chooses the bucket of a tenant", () => {
    expect(findLinesElsewhere(/\.MEDIA(?!_HOSTS|_UPSTREAM)/, "worker/platform/media-bucket.ts")).toEqual([])
  })
})

describe("names and sizes", () => {
  test("[RO4] no source file, style sheet, test or configuration is longer than the limit", () => {
    const configs = ["vite.config.ts", "vitest.config.ts"]
    const long = [...files, ...styleSheets, ...listSourceFiles("test"), ...configs].flatMap((file) => {
      const lines = readSource(file).trimEnd().split("\n").length
      return lines > MAX_FILE_LINES ? [`${file}: ${lines} lines, at most ${MAX_FILE_LINES}`] : []
    })
    expect(long).toEqual([])
  })

  test("[RO4] the Durable Objects only route calls", () => {
    const objects = files.filter((file) => /\bextends (?:DurableObject<|PortableSession\b)/.test(readSource(file)))
    const routing = objects.filter((file) => file !== "worker/session/portable-session.ts")
    const sizes = routing.map((file) => [file, readSource(file).split("\n").length - 1] as const)
    expect(sizes.filter(([file, lines]) => lines > (MAX_OBJECT_LINES[file] ?? 0))).toEqual([])
  })

  test("[RO4] of the Worker's own classes, only the session object inherits from another one", () => {
    const heirs = findLines(["worker"], /\bclass \w+(?:<.*>)? extends \w/)
    expect(heirs.filter((line) => !BASE_CLASSES.has(/ extends (\w+)/.exec(line)?.[1] ?? ""))).toEqual([])
  })

  test("[RO4] no file has a meaningless name, and only entries are named index", () => {
    const barred = files.filter((file) => {
      const stem = getStem(file)
      return BARRED_NAME.test(stem) || (stem === "index" && !ENTRIES.has(file))
    })
    expect(barred).toEqual([])
  })

  test("[RO6] no two source files have the same stem", () => {
    const named = files.filter((file) => !ENTRIES.has(file))
    const groups = [...groupBy(named, getStem), ...groupBy(styleSheets, getStem)]
    expect(groups.filter(([, same]) => same.length > 1)).toEqual([])
  })

  test("[RO7] no folder holds more files than the limit", () => {
    const folders = groupBy([...files, ...styleSheets], (file) => posix.dirname(file))
    expect(folders.filter(([, inside]) => inside.length > MAX_FOLDER_FILES).map(([folder]) => folder)).toEqual([])
  })

  test("[RO7] style sheets are in a separate folder", () => {
    expect(styleSheets.length).toBeGreaterThan(20)
    expect(styleSheets.filter((file) => !file.startsWith("client/styles/"))).toEqual([])
  })

  test("[RO7] every folder has a README.md that begins with a sentence", () => {
    const folders = groupBy([...files, ...styleSheets], (file) => posix.dirname(file)).map(([folder]) => folder)
    const silent = folders.filter((folder) => {
      const readme = join(folder, "README.md")
      return !existsSync(join(ROOT, readme)) || !/^# .+\n\n[A-Z][^\n]*\./.test(readSource(readme))
    })
    expect(silent).toEqual([])
  })

  test("[RO8] no function is longer than the limit, and nine in ten are short", () => {
    const functions = files.flatMap(listFunctions)
    const lengths = functions.map(({ lines }) => lines).sort((a, b) => a - b)
    const long = functions.filter(({ lines }) => lines > MAX_FUNCTION_LINES)
    expect(long.map(({ file, line, lines }) => `${file}:${line}: ${lines} lines`)).toEqual([])
    expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThanOrEqual(MAX_FUNCTION_LINES_P90)
  })

  test("[RO8] no literal is spread into a literal", () => {
    expect(files.flatMap(listLiteralSpreads)).toEqual([])
  })

  test("[RO1] every folder in a ladder exists", () => {
    const missing = Object.entries(LADDERS).flatMap(([top, ladder]) => {
      const names = readdirSync(join(ROOT, top)).map((name) => name.replace(/\.ts$/, ""))
      return ladder.filter((name) => name !== "." && !names.includes(name)).map((name) => `${top}/${name}`)
    })
    expect(missing).toEqual([])
  })
})
