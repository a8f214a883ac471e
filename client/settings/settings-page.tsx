/**
 * settings-page.tsx: the settings page: language, theme and units, connections, the user's data, and sign-out
 * everywhere.
 *
 * Each choice takes effect at once and is stored in the browser. Source: SPEC VD6 to VD8.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import { readIdentity } from "../account/identity.ts"
import { tokenResponse } from "../account/token-response.ts"
import { SignOutDialog } from "../account/user-menu.tsx"
import { ConnectionsSection } from "./connections-section.tsx"
import { chooseUnit, temperatureUnit } from "../cards/temperature-unit.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { LanguageSelect } from "../ui/preferences/language-select.tsx"
import { chooseTheme, THEMES, theme } from "../ui/preferences/theme.ts"
import { accountText } from "../words/account-text.ts"
import { appText } from "../words/page-text.ts"
import { settingsText } from "../words/settings/settings-text.ts"
import { DataSection } from "./data-section.tsx"
import { SettingRow } from "./setting-row.tsx"

export function SettingsPage({ router }: { readonly router: SessionRouter }): VNode {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const openId = router.controller.value?.id
  return (
    <main class="settings">
      <div>
        <a class="settings-back" href={openId === undefined ? "#/" : `#/s/${openId}`}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M12 4.5L6.5 10l5.5 5.5" />
          </svg>
          {settingsText.back}
        </a>
        <h1 ref={heading} tabIndex={-1}>
          {settingsText.settings}
        </h1>
        <GeneralSection onFault={() => router.sessionList.showNotice(appText.codeMissing, true)} />
        {!router.isReadOnly.value && <ConnectionsSection api={router.api} />}
        {!router.isReadOnly.value && <DataSection router={router} />}
        <AccountSection />
      </div>
    </main>
  )
}

function GeneralSection({ onFault }: { readonly onFault: () => void }): VNode {
  return (
    <section>
      <h2>{settingsText.general}</h2>
      <div class="setting">
        <p>{settingsText.language}</p>
        <LanguageSelect onFault={onFault} />
      </div>
      <Choice
        legend={settingsText.theme}
        value={theme.value}
        options={THEMES.map((name) => [name, settingsText.themes[name]] as const)}
        onChoose={chooseTheme}
      />
      <Choice
        legend={settingsText.units}
        value={temperatureUnit.value}
        options={[
          ["C", settingsText.celsius],
          ["F", settingsText.fahrenheit],
        ]}
        onChoose={chooseUnit}
      />
    </section>
  )
}

interface ChoiceProps<T extends string> {
  readonly legend: string
  readonly value: T
  readonly options: readonly (readonly [value: T, label: string])[]
  readonly onChoose: (value: T) => void
}

/** A choice among a few options, all of which are visible. */
function Choice<T extends string>({ legend, value, options, onChoose }: ChoiceProps<T>): VNode {
  const name = useId()
  return (
    <fieldset class="setting">
      <legend>{legend}</legend>
      <div class="choice">
        {options.map(([option, label]) => (
          <label key={option}>
            <input type="radio" name={name} checked={option === value} onChange={() => onChoose(option)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/**
 * Renders nothing unless the user signed in on the page itself. A product that embeds the page manages its own sign-in.
 */
function AccountSection(): VNode | null {
  const isConfirming = useSignal(false)
  const response = tokenResponse.value
  if (response === null || readIdentity(response).source !== "sign-in") return null
  return (
    <section>
      <h2>{settingsText.account}</h2>
      <SettingRow title={settingsText.signOutTitle} hint={settingsText.signOutHint}>
        <button type="button" onClick={() => (isConfirming.value = true)}>
          {accountText.signOutEverywhere}
        </button>
      </SettingRow>
      {isConfirming.value && <SignOutDialog onCancel={() => (isConfirming.value = false)} />}
    </section>
  )
}
