/** input-values.ts: the user's entries in a call's form, and the content that is sent. Pure. SPEC MP34. */

import type { InputContent, InputField, InputValue } from "../../../shared/protocol/input/call-input.ts"

/** The value of a control: a string, the state of a checkbox, or the chosen options. */
export type Entry = string | boolean | readonly string[]
export type Entries = ReadonlyMap<string, Entry>

export function getEntry(entries: Entries, field: InputField): Entry {
  return entries.get(field.name) ?? getInitialEntry(field)
}

function getInitialEntry(field: InputField): Entry {
  switch (field.kind) {
    case "check":
      return field.initial ?? false
    case "choices":
      return field.initial ?? []
    case "text":
      return field.format === "date-time" && field.initial !== undefined
        ? toLocalTime(field.initial)
        : (field.initial ?? "")
    default:
      return String(field.initial ?? "")
  }
}

/**
 * Converts the entries to content. Empty fields are left out. A value that can't be converted remains text, which the
 * check rejects.
 */
export function entriesToContent(fields: readonly InputField[], entries: Entries): InputContent {
  const values = fields.flatMap((field): (readonly [string, InputValue])[] => {
    const value = toValue(field, getEntry(entries, field))
    return value === null ? [] : [[field.name, value]]
  })
  return Object.fromEntries(values)
}

function toValue(field: InputField, entry: Entry): InputValue | null {
  if (typeof entry === "boolean") return entry
  if (typeof entry !== "string") return entry.length === 0 && !field.isRequired ? null : entry
  if (entry === "") return null
  if (field.kind === "number" || field.kind === "integer") return Number.isNaN(Number(entry)) ? entry : Number(entry)
  if (field.kind !== "text" || field.format !== "date-time") return entry
  const time = new Date(entry)
  return Number.isNaN(time.getTime()) ? entry : time.toISOString()
}

/**
 * Returns a time in the form that a control uses: in the user's time zone, to the minute. Empty if the day doesn't
 * exist.
 */
function toLocalTime(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return ""
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
