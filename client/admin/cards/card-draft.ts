/**
 * card-draft.ts: parses the playground's text into a template with its samples, or finds the first problem and its
 * position. Pure. SPEC CV41.
 */

import { isJsonObject, type Json, parseJson } from "../../../shared/json.ts"
import { type CardTemplate, MAX_SAMPLES } from "../../../shared/card/view/card-template.ts"
import { checkTemplate } from "../../../shared/card/view/check-template.ts"
import { cardsText } from "../../words/admin/cards-text.ts"
import { findLine, findRange, findSyntaxError, type TextProblem } from "./json-range.ts"

/** The contents of the editors. */
export interface CardDraft {
  /** The body of `PUT /v1/cards/:name` without its samples. */
  readonly template: string
  /** One to MAX_SAMPLES results of the tool. */
  readonly samples: readonly string[]
}

export interface DraftProblem extends TextProblem {
  /** The index of the sample with the problem; null if it is in the template. */
  readonly sample: number | null
}

export type CheckedDraft =
  | { readonly ok: true; readonly template: CardTemplate }
  | { readonly ok: false; readonly problem: DraftProblem }

/** Longer text is refused without being parsed. A template and a sample may have at most 64 KB each. */
export const MAX_TEXT_CHARS = 300_000

/** The line width that the narrower editor shows without scrolling. */
const MAX_LINE_CHARS = 60

export function checkDraft({ template, samples }: CardDraft): CheckedDraft {
  const parsed: Json[] = []
  for (const [at, text] of [template, ...samples].entries()) {
    const sample = at === 0 ? null : at - 1
    const value = text.length > MAX_TEXT_CHARS ? undefined : parseJson(text)
    if (value === undefined) return { ok: false, problem: describeUnparsed(text, sample) }
    parsed.push(value)
  }
  const [body = null, ...results] = parsed
  const whole = isJsonObject(body) ? { ...(body as { readonly [field: string]: Json }), samples: results } : body
  const checked = checkTemplate(whole)
  if (checked.ok) return checked
  const { pointer, problem } = checked
  const [, index, rest] = /^\/samples(?:\/(\d+)(.*))?$/.exec(pointer) ?? [null, null, pointer]
  const sample = index === null ? null : Number(index ?? 0)
  const text = sample === null ? template : (samples[sample] ?? "")
  return { ok: false, problem: locateProblem(text, sample, rest ?? "", problem) }
}

function locateProblem(text: string, sample: number | null, pointer: string, problem: string): DraftProblem {
  const range = findRange(text, pointer)
  return { ...range, sample, line: findLine(text, range.start), pointer, problem }
}

function describeUnparsed(text: string, sample: number | null): DraftProblem {
  if (text.length > MAX_TEXT_CHARS)
    return { start: 0, end: 0, sample, line: 1, pointer: "", problem: cardsText.tooLong(MAX_TEXT_CHARS) }
  const start = findSyntaxError(text) ?? 0
  return { start, end: text.length, sample, line: findLine(text, start), pointer: "", problem: cardsText.notJson }
}

/** Converts a body of `PUT /v1/cards/:name` to the contents of the editors. */
export function bodyToDraft({ samples, ...template }: { readonly [field: string]: unknown }): CardDraft {
  const results = Array.isArray(samples) && samples.length > 0 ? samples.slice(0, MAX_SAMPLES) : [{}]
  return { template: formatJson(template), samples: results.map((sample) => formatJson(sample)) }
}

/**
 * Splits a whole request body that was pasted as the template, so that its samples are shown in their own editors.
 * Returns null if the text isn't a whole body.
 */
export function splitPasted(text: string): CardDraft | null {
  const body = text.length > MAX_TEXT_CHARS ? undefined : parseJson(text)
  return isJsonObject(body) && Array.isArray(body["samples"]) ? bodyToDraft(body) : null
}

/** Formats a value as indented JSON. A short value is written on one line, because it is easier to read that way. */
export function formatJson(value: unknown, indent = "", key = ""): string {
  const short = key + formatLine(value)
  if (typeof value !== "object" || value === null || indent.length + short.length <= MAX_LINE_CHARS) return short
  const inner = `${indent}  `
  const lines = Array.isArray(value)
    ? value.map((item) => inner + formatJson(item, inner))
    : Object.entries(value).map(([name, member]) => inner + formatJson(member, inner, `${JSON.stringify(name)}: `))
  const [open, close] = Array.isArray(value) ? "[]" : "{}"
  return `${key}${open}\n${lines.join(",\n")}\n${indent}${close}`
}

function formatLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatLine).join(", ")}]`
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${formatLine(member)}`)
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`
}
