/**
 * playground.tsx: a template and its samples as editable text, with the rendered card beside them. Everything except
 * loading a stored card and saving works without a connection. SPEC CV41.
 */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useMemo, useRef } from "preact/hooks"
import { type CardTemplate, MAX_SAMPLES } from "../../../shared/card/view/card-template.ts"
import { cardsText } from "../../words/admin/cards-text.ts"
import { adminText } from "../../words/admin-text.ts"
import { pathOf } from "../admin-api.ts"
import { type AdminContext, notice, useAction } from "../admin-state.ts"
import { FaultText, TextField } from "../form-fields.tsx"
import { type CardDraft, type CheckedDraft, checkDraft, splitPasted } from "./card-draft.ts"
import { CardPreview } from "./card-preview.tsx"
import { JsonEditor } from "./json-editor.tsx"

export const CARDS_PATH = "/v1/cards"

const NEW_SAMPLE = "{}"

/** What the playground contains. */
export interface PlaygroundState {
  readonly draft: CardDraft
  readonly name: string
  /** Whether anything has changed since the draft was loaded or saved. */
  readonly isChanged: boolean
}

interface PlaygroundProps {
  readonly api: AdminContext["api"]
  readonly state: Signal<PlaygroundState>
  readonly onSaved: () => void
}

export function Playground({ api, state, onSaved }: PlaygroundProps): VNode {
  const { draft } = state.value
  const sample = useSignal(0)
  const checked = useMemo(() => checkDraft(draft), [draft])
  const newest = useRef<CardTemplate | null>(null)
  if (checked.ok) newest.current = checked.template
  const problem = checked.ok ? null : checked.problem
  const change = (next: CardDraft): void => {
    state.value = { ...state.peek(), draft: next, isChanged: true }
  }
  const shown = Math.min(sample.value, draft.samples.length - 1)
  return (
    <>
      <div class="playground">
        <JsonEditor
          label={cardsText.template}
          rows={26}
          value={draft.template}
          problem={problem?.sample === null ? problem : null}
          onChange={(template) => change(splitPasted(template) ?? { ...draft, template })}
        />
        <div class="playground-side">
          <Samples
            draft={draft}
            shown={shown}
            checked={checked}
            onShow={(at) => (sample.value = at)}
            onChange={change}
          />
          <CardPreview template={newest.current} sample={shown} isOld={!checked.ok} />
        </div>
      </div>
      <SaveForm api={api} state={state} checked={checked} onSaved={onSaved} />
    </>
  )
}

interface SamplesProps {
  readonly draft: CardDraft
  readonly shown: number
  readonly checked: CheckedDraft
  readonly onShow: (at: number) => void
  readonly onChange: (draft: CardDraft) => void
}

/** The editor of one sample, and buttons for the others. */
function Samples({ draft, shown, checked, onShow, onChange }: SamplesProps): VNode {
  const { samples } = draft
  const problem = checked.ok ? null : checked.problem
  const setSamples = (next: readonly string[], at: number): void => {
    onChange({ ...draft, samples: next })
    onShow(at)
  }
  return (
    <div>
      <JsonEditor
        label={cardsText.sample(shown + 1)}
        rows={9}
        value={samples[shown] ?? ""}
        problem={problem?.sample === shown ? problem : null}
        onChange={(text) => setSamples(samples.with(shown, text), shown)}
      />
      <fieldset class="row-actions sample-actions" aria-label={cardsText.samples}>
        {samples.length > 1 &&
          samples.map((_, at) => (
            <button
              key={at}
              type="button"
              aria-pressed={at === shown}
              aria-label={cardsText.sample(at + 1)}
              data-flawed={problem?.sample === at ? "" : undefined}
              onClick={() => onShow(at)}
            >
              {at + 1}
            </button>
          ))}
        {samples.length < MAX_SAMPLES && (
          <button type="button" onClick={() => setSamples([...samples, NEW_SAMPLE], samples.length)}>
            {cardsText.addSample}
          </button>
        )}
        {samples.length > 1 && (
          <button type="button" class="danger-text" onClick={() => setSamples(samples.toSpliced(shown, 1), 0)}>
            {cardsText.removeSample}
          </button>
        )}
      </fieldset>
    </div>
  )
}

interface SaveFormProps extends PlaygroundProps {
  readonly checked: CheckedDraft
}

function SaveForm({ api, state, checked, onSaved }: SaveFormProps): VNode {
  const action = useAction()
  const { name } = state.value
  const save = (): void =>
    void action.run(async () => {
      if (!checked.ok) return
      await api.sendAction("PUT", pathOf(CARDS_PATH, name.trim()), checked.template)
      state.value = { ...state.peek(), isChanged: false }
      notice.value = cardsText.saved(checked.template.for)
      onSaved()
    })
  return (
    <form
      class="playground-save"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <TextField
        label={cardsText.name}
        hint={cardsText.nameHint}
        value={name}
        maxLength={32}
        isRequired
        onChange={(next) => (state.value = { ...state.peek(), name: next })}
      />
      <button type="submit" class="firm" disabled={action.isRunning || !checked.ok}>
        {action.isRunning ? adminText.saving : cardsText.save}
      </button>
      {checked.ok && <p class="row-note">{cardsText.right}</p>}
      <FaultText text={action.fault} />
    </form>
  )
}
