/**
 * theme-section.tsx: the form for the tenant's theme, with its contrasts and a preview in both schemes. Source: SPEC
 * TH8.
 */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import { parseColor } from "../../../shared/theme/color.ts"
import {
  MAX_RADIUS_PX,
  MAX_THEME_NAME_CHARS,
  MAX_WELCOME_CHARS,
  type PageTheme,
  SCHEMES,
  type Theme,
  type ThemeView,
} from "../../../shared/theme/page-theme.ts"
import { findLowContrast } from "../../../shared/theme/theme-contrast.ts"
import { createParser, isNumber } from "../../../shared/protocol/shape-check.ts"
import { isJsonObject } from "../../../shared/json.ts"
import { adminText } from "../../words/admin-text.ts"
import { logoUrl } from "../../words/tenant-look.ts"
import { themeText } from "../../words/theme/theme-text.ts"
import type { AdminApi } from "../admin-api.ts"
import { type ActionState, type AdminContext, type Loaded, notice, useAction, useLoaded } from "../admin-state.ts"
import { ConfirmDialog } from "../confirm-dialog.tsx"
import { FaultText, Pending, SelectField, TextField } from "../form-fields.tsx"
import { ColorFields } from "./color-fields.tsx"
import { ContrastTable } from "./contrast-table.tsx"
import { LogoField } from "./logo-field.tsx"
import { ThemePreview } from "./theme-preview.tsx"

const THEME_PATH = "/v1/theme"

const parseThemeView = createParser<ThemeView>({ theme: isJsonObject, revision: isNumber })

interface ThemeEditing {
  readonly loaded: Loaded<ThemeView>
  /** Null until the theme has been loaded. */
  readonly draft: Signal<PageTheme | null>
  readonly action: ActionState
  show(view: ThemeView): void
  saveTheme(): void
  resetTheme(): Promise<void>
}

function useTheme(api: AdminApi): ThemeEditing {
  const loaded = useLoaded(() => api.get(THEME_PATH, parseThemeView))
  const draft = useSignal<PageTheme | null>(null)
  const action = useAction()
  useEffect(() => {
    draft.value = loaded.value?.theme ?? null
  }, [loaded.value])
  const show = (view: ThemeView): void => {
    loaded.set(view)
    logoUrl.value = view.theme.logo
  }
  const saveTheme = (): void =>
    void action.run(async () => {
      const { logo: _logo, ...theme } = draft.peek() as PageTheme
      show(await api.send("PUT", THEME_PATH, theme, parseThemeView))
      notice.value = adminText.saved
    })
  const resetTheme = async (): Promise<void> => {
    show(await api.send("DELETE", THEME_PATH, {}, parseThemeView))
    notice.value = themeText.wasReset
  }
  return { loaded, draft, action, show, saveTheme, resetTheme }
}

export function Section({ api }: AdminContext): VNode {
  const { loaded, draft, action, show, saveTheme, resetTheme } = useTheme(api)
  const isResetting = useSignal(false)
  const theme = draft.value
  const flaw = theme === null ? null : findFlaw(theme)
  return (
    <>
      <p class="lead">{themeText.lead}</p>
      <Pending of={loaded} />
      {theme !== null && (
        <div class="theme-editor">
          <form
            class="settings"
            onSubmit={(event) => {
              event.preventDefault()
              if (flaw === null) saveTheme()
            }}
          >
            <ThemeFields draft={draft as Signal<PageTheme>} />
            <LogoField api={api} path={`${THEME_PATH}/logo`} logo={theme.logo} parse={parseThemeView} onChange={show} />
            <FaultText text={flaw ?? action.fault} />
            <p class="row-actions">
              <button type="submit" class="firm" disabled={action.isRunning || flaw !== null}>
                {action.isRunning ? adminText.saving : adminText.save}
              </button>
              <button type="button" onClick={() => (isResetting.value = true)}>
                {themeText.reset}
              </button>
            </p>
          </form>
          <section class="theme-previews" aria-label={themeText.preview}>
            {SCHEMES.map((scheme) => (
              <ThemePreview key={scheme} scheme={scheme} theme={theme} />
            ))}
          </section>
        </div>
      )}
      {isResetting.value && (
        <ConfirmDialog
          title={themeText.resetTitle}
          text={themeText.resetHint}
          confirm={themeText.resetConfirm}
          isDestructive
          onConfirm={resetTheme}
          onClose={() => (isResetting.value = false)}
        />
      )}
    </>
  )
}

/** Returns why the theme can't be saved; null if it can. */
function findFlaw(theme: Theme): string | null {
  for (const [name, pair] of [
    [themeText.accent, theme.accent],
    [themeText.accentText, theme.accent_text],
  ] as const)
    for (const scheme of SCHEMES) {
      const label = themeText.colorOf(name, themeText.scheme[scheme])
      if (parseColor(pair[scheme]) === null) return themeText.invalidColor(label)
    }
  return findLowContrast(theme) === null ? null : themeText.unreadable
}

function ThemeFields({ draft }: { readonly draft: Signal<PageTheme> }): VNode {
  const theme = draft.value
  const change = (fields: Partial<Theme>): void => {
    draft.value = { ...draft.peek(), ...fields }
  }
  return (
    <>
      <fieldset>
        <legend>{themeText.colors}</legend>
        <ColorFields name={themeText.accent} value={theme.accent} onChange={(accent) => change({ accent })} />
        <ColorFields
          name={themeText.accentText}
          value={theme.accent_text}
          onChange={(accent_text) => change({ accent_text })}
        />
        <ContrastTable theme={theme} />
      </fieldset>
      <ShapeFields theme={theme} onChange={change} />
      <TextFields theme={theme} onChange={change} />
    </>
  )
}

interface FieldsProps {
  readonly theme: Theme
  readonly onChange: (fields: Partial<Theme>) => void
}

function ShapeFields({ theme, onChange }: FieldsProps): VNode {
  return (
    <fieldset>
      <legend>{themeText.shape}</legend>
      <SelectField
        label={themeText.font}
        value={theme.font}
        options={themeText.fonts}
        onChange={(font) => onChange({ font })}
      />
      <SelectField
        label={themeText.density}
        value={theme.density}
        options={themeText.densities}
        onChange={(density) => onChange({ density })}
      />
      <div class="field">
        <label for="theme-radius">{themeText.radius}</label>
        <input
          id="theme-radius"
          type="range"
          min={0}
          max={MAX_RADIUS_PX}
          value={theme.radius}
          aria-valuetext={themeText.radiusValue(theme.radius)}
          onInput={({ currentTarget }) => onChange({ radius: currentTarget.valueAsNumber })}
        />
        <small>{themeText.radiusValue(theme.radius)}</small>
      </div>
    </fieldset>
  )
}

function TextFields({ theme, onChange }: FieldsProps): VNode {
  return (
    <fieldset>
      <legend>{themeText.texts}</legend>
      <TextField
        label={themeText.name}
        hint={themeText.nameHint}
        value={theme.name}
        maxLength={MAX_THEME_NAME_CHARS}
        onChange={(name) => onChange({ name })}
      />
      <TextField
        label={themeText.welcome}
        hint={themeText.welcomeHint}
        value={theme.welcome}
        maxLength={MAX_WELCOME_CHARS}
        onChange={(welcome) => onChange({ welcome })}
      />
      <SuggestionsField theme={theme} onChange={onChange} />
    </fieldset>
  )
}

/** Keeps the text as it is typed, including empty lines. The theme itself contains only the parsed suggestions. */
function SuggestionsField({ theme, onChange }: FieldsProps): VNode {
  const lines = useSignal(theme.suggestions.join("\n"))
  const stored = theme.suggestions.join("\n")
  useEffect(() => {
    if (splitLines(lines.peek()).join("\n") !== stored) lines.value = stored
  }, [stored])
  return (
    <TextField
      label={themeText.suggestions}
      hint={themeText.suggestionsHint}
      rows={4}
      value={lines.value}
      onChange={(text) => {
        lines.value = text
        onChange({ suggestions: splitLines(text) })
      }}
    />
  )
}

function splitLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
}
