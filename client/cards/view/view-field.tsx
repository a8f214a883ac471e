/**
 * view-field.tsx: a field of a card's form. The user's input is kept only in this tab until a click sends it. SPEC KA7.
 */

import type { VNode } from "preact"
import { useId } from "preact/hooks"
import { MAX_FIELD_CHARS } from "../../../shared/protocol/cards/card-bounds.ts"
import { viewText } from "../../words/parts/view-text.ts"
import { type FieldNode, getInitialValue, useCardForm } from "./action-form.tsx"

export function ViewField({ node }: { readonly node: FieldNode }): VNode {
  const { values, invalid, isReadOnly } = useCardForm()
  const id = useId()
  const { name, kind, label, isRequired } = node
  const isInvalid = invalid.value.has(name)
  const shared = {
    id,
    "data-field": name,
    disabled: isReadOnly.value,
    required: isRequired,
    "aria-invalid": isInvalid,
    "aria-describedby": isInvalid ? `${id}-note` : undefined,
  }
  const value = values.value.get(name) ?? getInitialValue(node)
  const change = (next: string | boolean): void => {
    values.value = new Map(values.peek()).set(name, next)
    invalid.value = new Set([...invalid.peek()].filter((other) => other !== name))
  }
  const caption = (
    <label for={id}>
      <bdi>{label}</bdi>
      {isRequired && <span aria-hidden="true"> *</span>}
    </label>
  )
  return (
    <div class="view-field" data-kind={kind}>
      {kind !== "check" && caption}
      <FieldInput node={node} shared={shared} value={value} onChange={change} />
      {kind === "check" && caption}
      {isInvalid && <small id={`${id}-note`}>{viewText.fillIn}</small>}
    </div>
  )
}

interface FieldInputProps {
  readonly node: FieldNode
  readonly shared: object
  readonly value: string | boolean
  readonly onChange: (value: string | boolean) => void
}

function FieldInput({ node: { kind, options }, shared, value, onChange }: FieldInputProps): VNode {
  const text = String(value)
  const attributes: object = { ...shared, type: kind }
  switch (kind) {
    case "check":
      return (
        <input
          {...shared}
          type="checkbox"
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      )
    case "choice":
      return (
        <select {...shared} value={text} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          <option value="">{viewText.choose}</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )
    case "longText":
      return (
        <textarea
          {...shared}
          dir="auto"
          rows={3}
          maxLength={MAX_FIELD_CHARS}
          value={text}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
    default:
      return (
        <input
          {...attributes}
          dir={kind === "text" ? "auto" : "ltr"}
          step="any"
          maxLength={MAX_FIELD_CHARS}
          value={text}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
  }
}
