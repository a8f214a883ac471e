/**
 * convert-text.ts: converts an A2UI 0.9 dynamic value to that of a card. `formatString` becomes `join`, and a date
 * pattern becomes the closest date style. Pure.
 */

import { isJsonObject, type Json } from "../../shared/json.ts"
import type { DATE_STYLES, Dynamic, FormatCall } from "../../shared/card/view/card-template.ts"

type JsonObject = { readonly [field: string]: Json }

/** Receives a note about everything that a card can't show the way A2UI does. */
export type Note = (text: string) => void

export function convertText(value: Json | undefined, note: Note): Dynamic {
  if (value === undefined || value === null) return ""
  if (typeof value !== "object") return String(value)
  if (!isJsonObject(value)) return ""
  const { path, call, args } = value as JsonObject
  if (typeof path === "string") return { path }
  return typeof call === "string" ? convertCall(call, isJsonObject(args) ? (args as JsonObject) : {}, note) : ""
}

function convertCall(name: string, args: JsonObject, note: Note): Dynamic {
  const { value = "" } = args
  if (name === "formatString") return joinPieces(parsePieces(String(value)).map((piece) => convertText(piece, note)))
  const bound = isJsonObject(value) ? convertText(value, note) : String(value)
  const isBound = typeof bound === "object" && "path" in bound
  if (!isBound) {
    if (name !== "openUrl") note(`${name} has no path: its value is shown as it is`)
    return bound
  }
  const format = createFormat(name, args, bound, note)
  if (format !== null) return format
  note(`there is no function ${name}: the value is shown as it is`)
  return bound
}

function createFormat(name: string, args: JsonObject, value: { readonly path: string }, note: Note): FormatCall | null {
  const bound = { value: { path: value.path } }
  const decimals = typeof args["decimals"] === "number" ? { decimals: args["decimals"] } : {}
  switch (name) {
    case "formatNumber":
      return { call: name, args: { ...bound, ...decimals } }
    case "formatCurrency":
      return { call: name, args: { ...bound, currency: toJson(convertText(args["currency"], note)), ...decimals } }
    case "formatDate":
      return { call: name, args: { ...bound, style: findDateStyle(String(args["format"] ?? "")) } }
    case "pluralize": {
      const rules = ["zero", "one", "two", "few", "many"].filter((rule) => typeof args[rule] === "string")
      const texts = Object.fromEntries(rules.map((rule) => [rule, args[rule] as string]))
      return { call: name, args: { ...bound, ...texts, other: String(args["other"] ?? "") } }
    }
    default:
      return null
  }
}

/**
 * Returns the style of a pattern such as `MMM d, h:mm a`. Cards have styles instead of patterns, because the order of
 * the parts of a date depends on the language.
 */
export function findDateStyle(pattern: string): (typeof DATE_STYLES)[number] {
  const letters = pattern.replace(/'[^']*'/g, "")
  const hasTime = /[hHkK]/.test(letters)
  const hasDate = /[yMLdE]/.test(letters)
  if (hasTime) return hasDate ? "dateTime" : "time"
  if (/y/.test(letters)) return "date"
  return /E/.test(letters) ? "weekday" : "monthDay"
}

function joinPieces(pieces: readonly Dynamic[]): Dynamic {
  const texts = pieces.filter((piece) => piece !== "")
  if (texts.every((piece) => typeof piece === "string")) return texts.join("")
  const [only] = texts
  return texts.length === 1 && only !== undefined ? only : { call: "join", args: { values: texts.map(toJson) } }
}

function toJson(value: Dynamic): Json {
  return value as unknown as Json
}

/**
 * Parses a template string: `${/a} of ${formatNumber(value: ${/b})}` → {path: "/a"}, " of ", {call: "formatNumber", …}
 */
export function parsePieces(text: string): Json[] {
  const pieces: Json[] = []
  let literal = ""
  let at = 0
  while (at < text.length) {
    if (text.startsWith("\\${", at)) {
      literal += "${"
      at += 3
    } else if (text.startsWith("${", at)) {
      const end = findEnd(text, at + 2)
      pieces.push(literal, parseExpression(text.slice(at + 2, end)))
      literal = ""
      at = end + 1
    } else literal += text[at++]
  }
  return [...pieces, literal].filter((piece) => piece !== "")
}

/** Returns the index of the brace that ends an expression. */
function findEnd(text: string, start: number): number {
  let depth = 1
  let quote = ""
  for (let at = start; at < text.length; at++) {
    const unit = text[at] ?? ""
    if (quote !== "") quote = unit === quote ? "" : quote
    else if (unit === "'" || unit === '"') quote = unit
    else if (unit === "{") depth++
    else if (unit === "}" && --depth === 0) return at
  }
  return text.length
}

/** Parses a path, a literal, or a call such as `formatDate(value: ${/at}, format: 'E')`. */
function parseExpression(text: string): Json {
  const expression = text.trim()
  const [, call, inner] = /^([A-Za-z]\w*)\(([\s\S]*)\)$/.exec(expression) ?? []
  if (call !== undefined && inner !== undefined) {
    const args = splitArguments(inner).map((arg): [string, Json] => {
      const colon = arg.indexOf(":")
      return [arg.slice(0, colon).trim(), parseExpression(arg.slice(colon + 1))]
    })
    return { call, args: Object.fromEntries(args) }
  }
  if (expression.startsWith("${")) return parseExpression(expression.slice(2, findEnd(expression, 2)))
  const [, , quoted] = /^(['"])([\s\S]*)\1$/.exec(expression) ?? []
  if (quoted !== undefined) return quoted
  if (/^-?\d+(?:\.\d+)?$/.test(expression)) return Number(expression)
  if (expression === "true" || expression === "false") return expression === "true"
  return { path: expression }
}

/** Splits at the commas outside quotes, braces and parentheses. */
function splitArguments(text: string): string[] {
  const parts: string[] = []
  let [depth, quote, start] = [0, "", 0]
  for (let at = 0; at < text.length; at++) {
    const unit = text[at] ?? ""
    if (quote !== "") quote = unit === quote ? "" : quote
    else if (unit === "'" || unit === '"') quote = unit
    else if (unit === "{" || unit === "(") depth++
    else if (unit === "}" || unit === ")") depth--
    else if (unit === "," && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, text.slice(start)].filter((part) => part.includes(":"))
}
