/** settings-section.tsx: the origins and media hosts that the tenant allows, and the sites of its widget. Source: SPEC AD5. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import { adminText, settingsText } from "../words/admin-text.ts"
import { parsePageSettings } from "../../shared/protocol/responses.ts"
import { type AdminContext, notice, useAction, useLoaded } from "./admin-state.ts"
import { FaultText, Pending, TextField } from "./form-fields.tsx"

const SETTINGS_PATH = "/v1/settings"

export function SettingsSection({ api }: AdminContext): VNode {
  const settings = useLoaded(() => api.get(SETTINGS_PATH, parsePageSettings))
  const origins = useSignal("")
  const hosts = useSignal("")
  const sites = useSignal("")
  const action = useAction()
  useEffect(() => {
    origins.value = settings.value?.embed_origins.join("\n") ?? ""
    hosts.value = settings.value?.media_hosts.join("\n") ?? ""
    sites.value = settings.value?.embed_hosts?.join("\n") ?? ""
  }, [settings.value])
  const saveSettings = (): void =>
    void action.run(async () => {
      const [embed_origins, media_hosts, embed_hosts] = [origins, hosts, sites].map((list) => splitLines(list.peek()))
      // The request replaces all settings.
      const { titles, follow_ups, show_cost } = settings.value ?? {}
      const body = { embed_origins, media_hosts, embed_hosts, titles, follow_ups, show_cost }
      settings.set(await api.send("PUT", SETTINGS_PATH, body, parsePageSettings))
      notice.value = adminText.saved
    })
  const fields = [
    { label: settingsText.embedOrigins, hint: settingsText.embedHint, lines: origins },
    { label: settingsText.mediaHosts, hint: settingsText.mediaHint, lines: hosts },
    { label: settingsText.embedHosts, hint: settingsText.embedHostsHint, lines: sites },
  ]
  return (
    <>
      <p class="lead">{settingsText.lead}</p>
      <Pending of={settings} />
      {settings.value !== null && (
        <form
          class="settings"
          onSubmit={(event) => {
            event.preventDefault()
            saveSettings()
          }}
        >
          {fields.map(({ label, hint, lines }) => (
            <TextField
              key={label}
              label={label}
              hint={hint}
              rows={4}
              value={lines.value}
              onChange={(value) => (lines.value = value)}
            />
          ))}
          <p class="row-note">{settingsText.deployment}</p>
          <FaultText text={action.fault} />
          <p>
            <button type="submit" class="firm" disabled={action.isRunning}>
              {action.isRunning ? adminText.saving : adminText.save}
            </button>
          </p>
        </form>
      )}
    </>
  )
}

function splitLines(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
}
