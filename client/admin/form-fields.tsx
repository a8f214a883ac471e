/**
 * form-fields.tsx: small components shared by the sections: labelled fields, error messages, the loading note, and
 * times.
 */

import type { ComponentChildren, VNode } from "preact"
import { useId } from "preact/hooks"
import type { RoleName } from "../account/identity.ts"
import { adminText } from "../words/admin-text.ts"
import type { Loaded } from "./admin-state.ts"

interface FieldProps {
  readonly label: string
  readonly hint?: string | undefined
}

interface TextFieldProps extends FieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
  /** `decimal`: a number, for which a phone shows its numeric keypad. */
  readonly type?: "text" | "password" | "url" | "decimal"
  readonly rows?: number
  readonly isRequired?: boolean
  readonly isReadOnly?: boolean
  readonly maxLength?: number
  /** Whether the field receives focus when its dialog opens. */
  readonly isFirst?: boolean
}

/** A field with one line, or with several if `rows` is set. */
export function TextField(props: TextFieldProps): VNode {
  const { label, hint, value, onChange, type = "text", rows, isRequired, isReadOnly, maxLength, isFirst } = props
  const id = useId()
  const shared = {
    id,
    value,
    dir: type === "url" || type === "decimal" ? ("ltr" as const) : ("auto" as const),
    inputMode: type === "decimal" ? ("decimal" as const) : undefined,
    required: isRequired ?? false,
    readOnly: isReadOnly ?? false,
    maxLength,
    "aria-describedby": hint === undefined ? undefined : `${id}-hint`,
    "data-first": isFirst === true ? "" : undefined,
    spellcheck: false,
    autocomplete: "off" as const,
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <input
          {...shared}
          {...(type === "password" ? { type: "password" as const } : { type: "text" as const })}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <textarea {...shared} rows={rows} onInput={(event) => onChange(event.currentTarget.value)} />
      )}
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  )
}

interface DateFieldProps extends FieldProps {
  /** `2026-01-31`, or empty. */
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isRequired?: boolean
  readonly isFirst?: boolean
}

export function DateField({ label, hint, value, onChange, isRequired, isFirst }: DateFieldProps): VNode {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="date"
        value={value}
        required={isRequired ?? false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        data-first={isFirst === true ? "" : undefined}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  )
}

interface SelectFieldProps<T extends string> extends FieldProps {
  readonly value: T
  readonly options: Readonly<Record<T, string>>
  readonly onChange: (value: T) => void
  readonly isDisabled?: boolean
  /** Whether the label is for screen readers only. */
  readonly isCompact?: boolean
}

export function SelectField<T extends string>(props: SelectFieldProps<T>): VNode {
  const { label, value, options, onChange, isDisabled, isCompact } = props
  const id = useId()
  return (
    <div class="field">
      <label for={id} class={isCompact === true ? "visually-hidden" : undefined}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.value as T)}
      >
        {Object.entries<string>(options).map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

interface CheckListProps<T extends string> extends FieldProps {
  readonly options: readonly T[]
  readonly texts?: Readonly<Partial<Record<T, string>>>
  readonly value: readonly T[]
  readonly onChange: (value: readonly T[]) => void
}

export function CheckList<T extends string>({ label, options, texts, value, onChange }: CheckListProps<T>): VNode {
  return (
    <fieldset class="field checks">
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option}>
          <input
            type="checkbox"
            checked={value.includes(option)}
            onChange={({ currentTarget }) =>
              onChange(options.filter((known) => (known === option ? currentTarget.checked : value.includes(known))))
            }
          />
          <span>{texts?.[option] ?? option}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** Returns a label for each role: its name and description. */
export function roleTexts(options: readonly RoleName[]): Readonly<Partial<Record<RoleName, string>>> {
  return Object.fromEntries(options.map((role) => [role, `${adminText.role[role]}: ${adminText.roleHint[role]}`]))
}

export function FaultText({ text }: { readonly text: string | null }): VNode | null {
  if (text === null) return null
  return (
    <p class="fault" role="alert" dir="auto">
      {text}
    </p>
  )
}

/** Shows the loading note or the error until the data has been loaded. */
export function Pending({ of }: { readonly of: Pick<Loaded<unknown>, "value" | "fault" | "reload"> }): VNode | null {
  if (of.fault !== null)
    return (
      <div class="pending">
        <FaultText text={of.fault} />
        <button type="button" onClick={() => void of.reload()}>
          {adminText.retry}
        </button>
      </div>
    )
  return of.value === null ? <p class="pending">{adminText.loading}</p> : null
}

const TIME_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })

export function formatTime(at: number): string {
  return TIME_FORMAT.format(at)
}

export function Time({ at }: { readonly at: number }): VNode {
  return <time dateTime={new Date(at).toISOString()}>{formatTime(at)}</time>
}

/** A label and its value in a row's details. */
export function Detail({ label, children }: { readonly label: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
