/** input-field-view.tsx: a field of a call's form. It looks like a card's field. SPEC MP34. */

import type { VNode } from "preact"
import { useId } from "preact/hooks"
import type { InputField, InputFormat } from "../../../shared/protocol/input/call-input.ts"
import { MAX_INPUT_TEXT_CHARS } from "../../../shared/protocol/input/check-content.ts"
import { inputText } from "../../words/parts/input-text.ts"
import type { Entry } from "./input-values.ts"

interface InputFieldProps {
  readonly field: InputField
  readonly entry: Entry
  readonly isInvalid: boolean
  readonly onChange: (entry: Entry) => void
}

export function InputFieldView({ field, entry, isInvalid, onChange }: InputFieldProps): VNode {
  const id = useId()
  const { kind, label, hint, isRequired } = field
  const notes = [hint !== undefined && `${id}-hint`, isInvalid && `${id}-note`].filter((one) => one !== false)
  const shared = {
    id,
    required: isRequired,
    "aria-invalid": isInvalid,
    "aria-describedby": notes.length > 0 ? notes.join(" ") : undefined,
  }
  const caption = (
    <label for={kind === "choices" ? undefined : id} id={`${id}-label`}>
      <bdi>{label}</bdi>
      {isRequired && kind !== "check" && <span aria-hidden="true"> *</span>}
    </label>
  )
  return (
    <div class="view-field" data-kind={kind} data-field={field.name}>
      {kind !== "check" && caption}
      {kind === "choices" ? (
        <Options
          field={field}
          chosen={Array.isArray(entry) ? entry : []}
          labelledBy={`${id}-label`}
          onChange={onChange}
        />
      ) : (
        <Control field={field} entry={entry} shared={shared} onChange={onChange} />
      )}
      {kind === "check" && caption}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          <bdi>{hint}</bdi>
        </p>
      )}
      {isInvalid && <small id={`${id}-note`}>{inputText.check}</small>}
    </div>
  )
}

const INPUT_TYPES = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "datetime-local",
} as const satisfies Record<InputFormat, string>

/** Fields that allow longer text have several lines. */
const MAX_LINE_CHARS = 200

interface ControlProps {
  readonly field: Exclude<InputField, { readonly kind: "choices" }>
  readonly entry: Entry
  readonly shared: object
  readonly onChange: (entry: Entry) => void
}

function Control({ field, entry, shared, onChange }: ControlProps): VNode {
  const text = String(entry)
  switch (field.kind) {
    case "check":
      return (
        <input
          {...shared}
          type="checkbox"
          checked={entry === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      )
    case "choice":
      return (
        <select {...shared} value={text} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          <option value="">{inputText.choose}</option>
          {field.options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )
    case "number":
    case "integer":
      return (
        <input
          {...shared}
          type="number"
          dir="ltr"
          step={field.kind === "integer" ? 1 : "any"}
          min={field.min}
          max={field.max}
          value={text}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
    case "text": {
      const maxLength = Math.min(field.max ?? MAX_INPUT_TEXT_CHARS, MAX_INPUT_TEXT_CHARS)
      const enter = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
        onChange(currentTarget.value)
      if (field.format === undefined && (field.max ?? 0) > MAX_LINE_CHARS)
        return <textarea {...shared} dir="auto" rows={3} maxLength={maxLength} value={text} onInput={enter} />
      const type = field.format === undefined ? "text" : INPUT_TYPES[field.format]
      // The types of the attributes don't allow a union of these types.
      const attributes: object = { ...shared, type, dir: type === "text" ? "auto" : "ltr" }
      // A password manager must not fill in a field that an MCP server requests.
      return <input {...attributes} autocomplete="off" maxLength={maxLength} value={text} onInput={enter} />
    }
  }
}

interface OptionsProps {
  readonly field: Extract<InputField, { readonly kind: "choices" }>
  readonly chosen: readonly string[]
  readonly labelledBy: string
  readonly onChange: (entry: Entry) => void
}

/** A group with a checkbox for each option. */
function Options({ field, chosen, labelledBy, onChange }: OptionsProps): VNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the name of the group is the label above it, as for every field.
    <div class="options" role="group" aria-labelledby={labelledBy}>
      {field.options.map(({ value, label }) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={({ currentTarget }) =>
              // The values are in the order of the options, whichever was chosen first.
              onChange(
                field.options
                  .map((option) => option.value)
                  .filter((one) => (one === value ? currentTarget.checked : chosen.includes(one))),
              )
            }
          />
          <bdi>{label}</bdi>
        </label>
      ))}
    </div>
  )
}
