/**
 * source-tree.ts: reads the source files for the tests that check the structure of the code.
 *
 * Files are named by their path from the root. A real parser finds imports and functions, so nothing in comments or
 * strings is counted.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, posix, relative, resolve } from "node:path"
import { type ParserOptions, parseSync } from "vite"

export const ROOT = resolve(import.meta.dirname, "../..")

export interface Import {
  readonly file: string
  readonly line: number
  readonly specifier: string
  /**
   * Whether this is an `import type`, which does not exist at run time but still counts as a dependency on the other
   * file.
   */
  readonly isTypeOnly: boolean
}

export interface SourceFunction {
  readonly file: string
  readonly line: number
  readonly lines: number
}

/** Lists the TypeScript and JavaScript files in a folder and its subfolders. */
export const listSourceFiles = (folder: string): string[] => listFiles(folder, /\.(?:m?[jt]s|[jt]sx)$/)

export const listStyleSheets = (folder: string): string[] => listFiles(folder, /\.css$/)

function listFiles(folder: string, pattern: RegExp): string[] {
  const path = join(ROOT, folder)
  if (!existsSync(path)) return []
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => pattern.test(name) && !name.includes("node_modules"))
    .map((name) => relative(ROOT, join(path, name)))
    .sort()
}

export const readSource = (file: string): string => readFileSync(join(ROOT, file), "utf8")

/** Returns the name of a file, without its folders and extension. */
export const getStem = (file: string): string => posix.basename(file).replace(/(?:\.d)?\.\w+$/, "")

/** Returns the path of the file that a relative specifier names. */
export const resolveImport = ({ file, specifier }: Pick<Import, "file" | "specifier">): string =>
  posix.normalize(posix.join(posix.dirname(file), specifier))

/** Replaces comments with spaces, and keeps line breaks. */
export function blankComments(code: string): string {
  const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/g
  return code.replace(tokens, (token) => (token.startsWith("/") ? token.replace(/[^\n]/g, " ") : token))
}

/** The fields of a syntax tree node that this module reads. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
}

/** Yields every syntax node of a file, parents first. */
function* walkSyntax(file: string, code: string): Generator<Node> {
  const lang: ParserOptions["lang"] = file.endsWith("x") ? "tsx" : "ts"
  const { program, errors } = parseSync(file, code, { lang })
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const pending: unknown[] = [program]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (Array.isArray(value)) pending.push(...value.filter((item) => item !== null))
    else if (isNode(value)) {
      yield value
      pending.push(...Object.values(value).filter((child) => typeof child === "object" && child !== null))
    }
  }
}

/** Lists every static import, re-export and `import()` in a file. */
export function listImports(file: string): Import[] {
  const code = readSource(file)
  const lineAt = createLineLookup(code)
  return [...walkSyntax(file, code)].flatMap((node) => {
    const { type, source, start, importKind, exportKind } = node
    const isImport = /^(?:Import|ExportNamed|ExportAll)Declaration$|^ImportExpression$/.test(type)
    if (!isImport || !isNode(source) || typeof source["value"] !== "string") return []
    const isTypeOnly = importKind === "type" || exportKind === "type"
    return [{ file, line: lineAt(start), specifier: source["value"], isTypeOnly }]
  })
}

const FUNCTION_TYPES = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"])

/** Lists every function in a file with its number of lines, including nested functions. */
export function listFunctions(file: string): SourceFunction[] {
  const code = readSource(file)
  const lineAt = createLineLookup(code)
  return [...walkSyntax(file, code)]
    .filter(({ type }) => FUNCTION_TYPES.has(type))
    .map(({ start, end }) => ({ file, line: lineAt(start), lines: lineAt(end) - lineAt(start) + 1 }))
}

/** Lists the lines on which a literal is spread into a literal: `{ ...{ a, b } }`. */
export function listLiteralSpreads(file: string): string[] {
  const code = readSource(file)
  const lineAt = createLineLookup(code)
  return [...walkSyntax(file, code)]
    .filter(({ type, argument }) => type === "SpreadElement" && isNode(argument) && isLiteral(argument))
    .map(({ start }) => `${file}:${lineAt(start)}`)
}

const isLiteral = ({ type }: Node): boolean => type === "ObjectExpression" || type === "ArrayExpression"

function createLineLookup(code: string): (offset: number) => number {
  const starts = [0]
  for (let at = code.indexOf("\n"); at >= 0; at = code.indexOf("\n", at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    return low
  }
}
