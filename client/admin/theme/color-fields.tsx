/**
 * color-fields.tsx: the fields for a pair of colours: for each scheme, a colour picker and a text field with the same
 * colour.
 */

import type { VNode } from "preact"
import { useId } from "preact/hooks"
import { parseColor } from "../../../shared/theme/color.ts"
import { type ColorPair, SCHEMES, type Scheme } from "../../../shared/theme/page-theme.ts"
import { themeText } from "../../words/theme/theme-text.ts"

interface ColorFieldsProps {
  readonly name: string
  readonly value: ColorPair
  readonly onChange: (value: ColorPair) => void
}

export function ColorFields({ name, value, onChange }: ColorFieldsProps): VNode {
  return (
    <div class="color-pair">
      {SCHEMES.map((scheme) => (
        <ColorField
          key={scheme}
          label={themeText.colorOf(name, themeText.scheme[scheme])}
          scheme={scheme}
          value={value[scheme]}
          onChange={(color) => onChange({ ...value, [scheme]: color })}
        />
      ))}
    </div>
  )
}

interface ColorFieldProps {
  readonly label: string
  readonly scheme: Scheme
  readonly value: string
  readonly onChange: (color: string) => void
}

function ColorField({ label, value, onChange }: ColorFieldProps): VNode {
  const id = useId()
  const color = parseColor(value)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="color-input">
        <input
          type="color"
          aria-label={themeText.picker(label)}
          value={color ?? "#000000"}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
        <input
          id={id}
          type="text"
          dir="ltr"
          value={value}
          maxLength={7}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={color === null}
          onInput={({ currentTarget }) => onChange(currentTarget.value.trim())}
        />
      </div>
    </div>
  )
}
