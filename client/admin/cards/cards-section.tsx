/** cards-section.tsx: the tenant's cards, and the playground in which they are created. SPEC AD20, CV41. */

import { type Signal, signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useId } from "preact/hooks"
import { isJsonObject } from "../../../shared/json.ts"
import { createParser, hasShape, isListOf, isString } from "../../../shared/protocol/shape-check.ts"
import { cardsText } from "../../words/admin/cards-text.ts"
import { adminText } from "../../words/admin-text.ts"
import { pathOf } from "../admin-api.ts"
import { type AdminContext, type Loaded, useAction, useLoaded } from "../admin-state.ts"
import { ConfirmDialog, RemoveDialog } from "../confirm-dialog.tsx"
import { Detail, FaultText, Pending } from "../form-fields.tsx"
import { warnBeforeLeaving } from "../tenant/leave-warning.ts"
import { bodyToDraft } from "./card-draft.ts"
import { CARDS_PATH, Playground, type PlaygroundState } from "./playground.tsx"
import { SHIPPED_TEMPLATES } from "./shipped-templates.ts"

interface CardSummary {
  readonly name: string
  readonly for: string
  readonly revision: string
}

interface CardList {
  readonly cards: readonly CardSummary[]
}

type CardBody = { readonly [field: string]: unknown }

const parseCardList = createParser<CardList>({
  cards: isListOf(hasShape<CardSummary>({ name: isString, for: isString, revision: isString })),
})

const parseCardBody = (value: unknown): CardBody | null => (isJsonObject(value) ? value : null)

/** Only this many leading digits of a revision are shown, which is enough to distinguish versions. */
const SHOWN_DIGITS = 8
const FIRST_TEMPLATE = "facts"

function createState(body: CardBody, name: string): PlaygroundState {
  return { draft: bodyToDraft(body), name, isChanged: false }
}

/** Outside the component, so that the draft is kept while another section is shown. */
const state = signal(createState(SHIPPED_TEMPLATES[FIRST_TEMPLATE] ?? {}, FIRST_TEMPLATE))
warnBeforeLeaving(() => state.value.isChanged)

type OpenDialog =
  | { readonly kind: "remove"; readonly name: string }
  | { readonly kind: "discard"; readonly load: () => Promise<void> }

export function Section({ api }: AdminContext): VNode {
  const list = useLoaded(() => api.get(CARDS_PATH, parseCardList))
  const dialog = useSignal<OpenDialog | null>(null)
  const loading = useAction()
  const loadOwn = (name: string) => async (): Promise<void> => {
    await loading.run(async () => {
      const { name: _, revision: __, ...body } = await api.get(pathOf(CARDS_PATH, name), parseCardBody)
      state.value = createState(body, name)
    })
  }
  const loadShipped = (name: string) => async (): Promise<void> => {
    state.value = createState(SHIPPED_TEMPLATES[name] ?? {}, name)
  }
  const start = (load: () => Promise<void>): void => {
    if (state.peek().isChanged) dialog.value = { kind: "discard", load }
    else void load()
  }
  return (
    <>
      <p class="lead">{cardsText.lead}</p>
      <CardRows
        list={list}
        onEdit={(name) => start(loadOwn(name))}
        onRemove={(name) => (dialog.value = { kind: "remove", name })}
      />
      <section class="playground-section" aria-label={cardsText.playground}>
        <h2>{cardsText.playground}</h2>
        <StartField
          cards={list.value?.cards ?? []}
          onShipped={(name) => start(loadShipped(name))}
          onOwn={(name) => start(loadOwn(name))}
        />
        <FaultText text={loading.fault} />
        <Playground api={api} state={state} onSaved={() => void list.reload()} />
      </section>
      <CardDialog api={api} list={list} dialog={dialog} />
    </>
  )
}

interface CardRowsProps {
  readonly list: Loaded<CardList>
  readonly onEdit: (name: string) => void
  readonly onRemove: (name: string) => void
}

function CardRows({ list, onEdit, onRemove }: CardRowsProps): VNode {
  return (
    <>
      <Pending of={list} />
      {list.value?.cards.length === 0 && <p class="pending">{cardsText.empty}</p>}
      <ul class="rows" aria-label={adminText.section.cards}>
        {list.value?.cards.map(({ name, for: tool, revision }) => (
          <li key={name}>
            <div class="row-main">
              <p class="row-title">{name}</p>
              <dl>
                <Detail label={cardsText.tool}>
                  <code>{tool}</code>
                </Detail>
                <Detail label={cardsText.revision}>
                  <code>{revision.slice(0, SHOWN_DIGITS)}</code>
                </Detail>
              </dl>
            </div>
            <fieldset class="row-actions" aria-label={cardsText.actionsOf(name)}>
              <button type="button" onClick={() => onEdit(name)}>
                {cardsText.edit}
              </button>
              <button type="button" class="danger-text" onClick={() => onRemove(name)}>
                {adminText.remove}
              </button>
            </fieldset>
          </li>
        ))}
      </ul>
    </>
  )
}

interface StartFieldProps {
  readonly cards: readonly CardSummary[]
  readonly onShipped: (name: string) => void
  readonly onOwn: (name: string) => void
}

/**
 * The field that loads a template or a card into the playground. Its value is always empty, so that the same template
 * can be chosen again.
 */
function StartField({ cards, onShipped, onOwn }: StartFieldProps): VNode {
  const id = useId()
  return (
    <div class="field start-field">
      <label for={id}>{cardsText.start}</label>
      <select
        id={id}
        value=""
        onChange={({ currentTarget }) => {
          const [kind, name = ""] = currentTarget.value.split(":")
          currentTarget.value = ""
          if (kind === "own") onOwn(name)
          else if (kind === "shipped") onShipped(name)
        }}
      >
        <option value="">{cardsText.startHint}</option>
        <optgroup label={cardsText.templates}>
          {Object.keys(SHIPPED_TEMPLATES).map((name) => (
            <option key={name} value={`shipped:${name}`}>
              {cardsText.templateNames[name] ?? name}
            </option>
          ))}
        </optgroup>
        {cards.length > 0 && (
          <optgroup label={cardsText.ownCards}>
            {cards.map(({ name }) => (
              <option key={name} value={`own:${name}`}>
                {name}
              </option>
            ))}
          </optgroup>
        )}
      </select>
    </div>
  )
}

interface CardDialogProps {
  readonly api: AdminContext["api"]
  readonly list: Loaded<CardList>
  readonly dialog: Signal<OpenDialog | null>
}

function CardDialog({ api, list, dialog }: CardDialogProps): VNode | null {
  const open = dialog.value
  const close = (): void => {
    dialog.value = null
  }
  if (open === null) return null
  if (open.kind === "discard")
    return (
      <ConfirmDialog
        title={cardsText.discardTitle}
        text={cardsText.discardText}
        confirm={cardsText.discard}
        onClose={close}
        onConfirm={open.load}
      />
    )
  return <RemoveDialog api={api} path={CARDS_PATH} name={open.name} text={cardsText} list={list} onClose={close} />
}
