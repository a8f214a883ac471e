/**
 * settings-section.tsx: the origins and media hosts that the tenant allows, the sites of its widget, and what is added
 * to answers. Source: SPEC AD5, AD22.
 */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import type { PageSettings } from "../../shared/protocol/http-body.ts"
import { adminText, settingsText } from "../words/admin-text.ts"
import { parsePageSettings } from "../../shared/protocol/responses.ts"
import { type AdminContext, notice, useAction, useLoaded } from "./admin-state.ts"
import { CheckList, FaultText, Pending, SelectField, TextField } from "./form-fields.tsx"

const SETTINGS_PATH = "/v1/settings"

/** The settings that are on or off. */
const SWITCHES = ["follow_ups", "show_cost"] as const

type Switch = (typeof SWITCHES)[number]

/** What the form contains. Each list has one entry per line. */
interface Entry {
  readonly embed_origins: string
  readonly media_hosts: string
  readonly embed_hosts: string
  readonly titles: keyof typeof settingsText.titles
  readonly switches: readonly Switch[]
}

export function SettingsSection({ api }: AdminContext): VNode {
  const settings = useLoaded(() => api.get(SETTINGS_PATH, parsePageSettings))
  const entry = useSignal(toEntry(null))
  const action = useAction()
  useEffect(() => {
    entry.value = toEntry(settings.value)
  }, [settings.value])
  const saveSettings = async (): Promise<void> => {
    // The request replaces all settings.
    settings.set(await api.send("PUT", SETTINGS_PATH, toBody(entry.peek()), parsePageSettings))
    notice.value = adminText.saved
  }
  return (
    <>
      <p class="lead">{settingsText.lead}</p>
      <Pending of={settings} />
      {settings.value !== null && (
        <form
          class="settings"
          onSubmit={(event) => {
            event.preventDefault()
            void action.run(saveSettings)
          }}
        >
          <ListFields entry={entry} />
          <AnswerFields entry={entry} />
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

const LISTS = [
  { name: "embed_origins", label: settingsText.embedOrigins, hint: settingsText.embedHint },
  { name: "media_hosts", label: settingsText.mediaHosts, hint: settingsText.mediaHint },
  { name: "embed_hosts", label: settingsText.embedHosts, hint: settingsText.embedHostsHint },
] as const

interface FieldsProps {
  readonly entry: Signal<Entry>
}

function ListFields({ entry }: FieldsProps): VNode {
  return (
    <>
      {LISTS.map(({ name, label, hint }) => (
        <TextField
          key={name}
          label={label}
          hint={hint}
          rows={4}
          value={entry.value[name]}
          onChange={(value) => (entry.value = { ...entry.peek(), [name]: value })}
        />
      ))}
      <p class="row-note">{settingsText.deployment}</p>
    </>
  )
}

function AnswerFields({ entry }: FieldsProps): VNode {
  return (
    <>
      <CheckList
        label={settingsText.answers}
        options={SWITCHES}
        texts={settingsText.switches}
        value={entry.value.switches}
        onChange={(switches) => (entry.value = { ...entry.peek(), switches })}
      />
      <SelectField
        label={settingsText.titlesLabel}
        options={settingsText.titles}
        value={entry.value.titles}
        onChange={(titles) => (entry.value = { ...entry.peek(), titles })}
      />
    </>
  )
}

function toEntry(settings: PageSettings | null): Entry {
  const titles = settings?.titles
  return {
    embed_origins: settings?.embed_origins.join("\n") ?? "",
    media_hosts: settings?.media_hosts.join("\n") ?? "",
    embed_hosts: settings?.embed_hosts?.join("\n") ?? "",
    titles: titles === undefined ? "server" : titles ? "on" : "off",
    switches: SWITCHES.filter((name) => settings?.[name] === true),
  }
}

/** Converts the form to a request body. If `titles` is absent, the deployment's setting applies. */
function toBody({ titles, switches, ...lists }: Entry): object {
  const chosen = titles === "server" ? {} : { titles: titles === "on" }
  return {
    embed_origins: splitLines(lists.embed_origins),
    media_hosts: splitLines(lists.media_hosts),
    embed_hosts: splitLines(lists.embed_hosts),
    ...chosen,
    ...Object.fromEntries(switches.map((name) => [name, true])),
  }
}

function splitLines(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
}
