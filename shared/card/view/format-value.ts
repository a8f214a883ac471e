/**
 * format-value.ts: formats the values of a tool's result as text, with a fixed set of functions over `Intl`. Pure.
 *
 * Each function returns the pieces of a string. A piece is a literal from the template, a formatted value, or one of
 * the page's labels. Null means that the result has no such value. SPEC CV5.
 */

import { isJsonObject, type Json } from "../../json.ts"
import { cutText } from "../../text/cut-text.ts"
import type { Binding, Dynamic, FormatCall } from "./card-template.ts"
import { readPointer } from "../../json-schema/json-pointer.ts"
import { ENGLISH_LABELS, type ViewLabels } from "./view-labels.ts"

/** The pieces of a string, in order. No piece is empty. */
export type Runs = readonly string[]

/** The formats and labels that depend on the reader's language. */
export interface ViewLocale {
  /** A BCP 47 tag. */
  readonly locale: string
  /** If undefined, the time zone of this machine is used. */
  readonly timeZone?: string
  readonly labels: ViewLabels
}

/** For output that is the same for all readers: checks, exports, and the message that a click creates. */
export const ENGLISH: ViewLocale = { locale: "en", timeZone: "UTC", labels: ENGLISH_LABELS }

/** What bindings are read from, and what the card may still contain. */
export interface ViewScope {
  readonly root: Json
  /** The current item of the list or table; undefined outside a list or table. */
  readonly item: Json | undefined
  /** The item's index, counted from 0. Absent in a table and outside a list. */
  readonly index?: number
  readonly locale: ViewLocale
  /** How many more nodes (including table cells) and characters the card may contain. Shared by the whole card. */
  readonly left: { nodes: number; chars: number }
  /** Receives each binding that has a value. */
  readonly onFound?: (binding: object) => void
}

/** Longer values are cut. In UTF-16 code units. */
const MAX_VALUE_CHARS = 4_000

/** Reads a literal or binding. Returns undefined if there is no value. */
export function readValue(value: Json | undefined, scope: ViewScope): Json | undefined {
  if (!isBinding(value)) return isJsonObject(value) ? undefined : value
  const found = readPointer(value.path, scope.root, scope.item) ?? undefined
  if (found !== undefined) scope.onFound?.(value)
  return found
}

export function isBinding(value: unknown): value is Binding {
  return isJsonObject(value) && typeof value["path"] === "string"
}

export function isFormatCall(value: unknown): value is FormatCall {
  return isJsonObject(value) && typeof value["call"] === "string" && isJsonObject(value["args"])
}

/** Returns a dynamic value as text; null if the result has no such value, or if the card is full. */
export function formatDynamic(value: Json | Dynamic | undefined, scope: ViewScope): Runs | null {
  if (scope.left.chars <= 0) return null
  const runs = isFormatCall(value)
    ? callFunction(value, scope)
    : toRuns(readValue(value as Json | undefined, scope), scope)
  for (const run of runs ?? []) scope.left.chars -= run.length
  return runs
}

function toRuns(value: Json | undefined, { locale }: ViewScope): Runs | null {
  switch (typeof value) {
    case "string":
      return toRun(value.length > MAX_VALUE_CHARS ? `${cutText(value, MAX_VALUE_CHARS)}…` : value)
    case "number":
      return [format(value, locale.locale, { maximumFractionDigits: 6, useGrouping: false })]
    case "boolean":
      return [locale.labels[value ? "yes" : "no"]]
    default:
      return null
  }
}

function toRun(text: string): Runs | null {
  return text.trim() === "" ? null : [text]
}

function callFunction({ call, args }: FormatCall, scope: ViewScope): Runs | null {
  switch (call) {
    case "formatNumber":
      return formatFigure(args, scope, {})
    case "formatPercent":
      return formatFigure(args, scope, { style: "percent" }, 0)
    case "formatCurrency":
      return formatCurrency(args, scope)
    case "formatDate":
      return formatDate(args, scope)
    case "formatDuration": {
      const seconds = readValue(args["value"], scope)
      return typeof seconds === "number" ? [formatDuration(seconds)] : null
    }
    case "pluralize":
      return pluralize(args, scope)
    case "choose":
      return choose(args, scope)
    case "label":
      return formatLabel(args, scope)
    case "join":
      return join(args["values"], scope)
    default:
      return null
  }
}

type Args = FormatCall["args"]

function formatFigure(args: Args, scope: ViewScope, style: Intl.NumberFormatOptions, digits?: number): Runs | null {
  const value = readValue(args["value"], scope)
  if (typeof value !== "number") return null
  const decimals = typeof args["decimals"] === "number" ? args["decimals"] : digits
  const fraction =
    decimals === undefined
      ? style.style === undefined
        ? { maximumFractionDigits: 6 }
        : {}
      : { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  const figure = format(value, scope.locale.locale, { ...style, ...fraction })
  const unit = formatDynamic(args["unit"], scope)
  return unit === null ? [figure] : [figure, "\u00a0", ...unit]
}

function formatCurrency(args: Args, scope: ViewScope): Runs | null {
  const currency = readValue(args["currency"], scope)
  // `Intl` throws for anything else.
  if (typeof currency !== "string" || !/^[A-Za-z]{3}$/.test(currency)) return formatFigure(args, scope, {})
  return formatFigure(args, scope, { style: "currency", currency })
}

const DATE_OPTIONS: { readonly [style: string]: Intl.DateTimeFormatOptions } = {
  date: { dateStyle: "medium" },
  time: { timeStyle: "short" },
  dateTime: { dateStyle: "medium", timeStyle: "short" },
  weekday: { weekday: "short", day: "numeric", month: "short" },
  monthDay: { day: "numeric", month: "short" },
}

/**
 * A date without a time, or with a time but no time zone, is local to the place it describes, so it isn't converted.
 */
const LOCAL_DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?$/

function formatDate(args: Args, scope: ViewScope): Runs | null {
  const value = readValue(args["value"], scope)
  if (typeof value !== "string" && typeof value !== "number") return null
  const isLocal = typeof value === "string" && LOCAL_DATE.test(value)
  const at = toTime(isLocal && value.length > 10 ? `${value}Z` : value)
  if (Number.isNaN(at)) return typeof value === "string" ? toRuns(value, scope) : null
  const options = DATE_OPTIONS[String(args["style"] ?? "dateTime")] ?? {}
  const timeZone = isLocal ? "UTC" : scope.locale.timeZone
  const zoned = timeZone === undefined ? options : { ...options, timeZone }
  return [findFormat(Intl.DateTimeFormat, scope.locale.locale, zoned).format(at)]
}

/**
 * Converts a date string, or a number of milliseconds, to milliseconds since 1970. Returns NaN if the value is neither.
 */
export function toTime(value: Json | undefined): number {
  if (typeof value === "number") return Math.abs(value) <= 8.64e15 ? value : Number.NaN
  // biome-ignore lint/style/noRestrictedGlobals: parsing needs no clock.
  return typeof value === "string" && value.length <= 64 ? Date.parse(value) : Number.NaN
}

/** Formats a number of seconds: 3725 → "1:02:05". */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.min(Math.round(seconds), 359_999_999))
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const padded = (figure: number): string => String(figure).padStart(2, "0")
  return hours > 0 ? `${hours}:${padded(minutes)}:${padded(rest)}` : `${minutes}:${padded(rest)}`
}

function pluralize(args: Args, scope: ViewScope): Runs | null {
  const value = readValue(args["value"], scope)
  if (typeof value !== "number") return null
  const rule =
    value === 0 && args["zero"] !== undefined ? "zero" : new Intl.PluralRules(scope.locale.locale).select(value)
  return formatDynamic(args[rule] ?? args["other"], scope)
}

function choose(args: Args, scope: ViewScope): Runs | null {
  const value = readValue(args["value"], scope)
  const cases = args["cases"]
  if (value === undefined || typeof value === "object" || !isJsonObject(cases)) return null
  return formatDynamic(Object.hasOwn(cases, String(value)) ? cases[String(value)] : args["other"], scope)
}

/** Returns a label with its `#` replaced by the value; null if the label is unknown or its value is missing. */
function formatLabel({ name, value }: Args, scope: ViewScope): Runs | null {
  const label: unknown = scope.locale.labels[name as keyof ViewLabels]
  if (typeof label !== "string") return null
  const [before = "", after] = label.split("#")
  if (after === undefined) return [label]
  const runs = formatDynamic(value, scope)
  return runs && [before, ...runs, after].filter((text) => text !== "")
}

/** Joins the values; returns null if every value that depends on the result is missing. */
function join(values: Json | undefined, scope: ViewScope): Runs | null {
  if (!Array.isArray(values)) return null
  const texts = values.map((value) => (typeof value === "string" ? [value] : formatDynamic(value, scope)))
  const hasValue = values.some((value, i) => !isFixed(value) && texts[i] !== null)
  return hasValue ? texts.flatMap((text) => text ?? []).filter((text) => text !== "") : null
}

/** Returns whether a value doesn't depend on the result: a literal, or a label without a value. */
function isFixed(value: Json): boolean {
  return !isJsonObject(value) || (value["call"] === "label" && !isJsonObject(Object(value["args"])["value"]))
}

function format(value: number, locale: string, options: Intl.NumberFormatOptions): string {
  return findFormat(Intl.NumberFormat, locale, options).format(value)
}

/** Cached, because creating a format takes a thousand times longer than using it. */
const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>()
const MAX_FORMATS = 100

function findFormat<T extends Intl.NumberFormat | Intl.DateTimeFormat>(
  create: new (locale: string, options: object) => T,
  locale: string,
  options: object,
): T {
  const key = `${create.name} ${locale} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known instanceof create) return known
  if (formats.size >= MAX_FORMATS) formats.clear()
  const created = new create(locale, options)
  formats.set(key, created)
  return created
}
