/**
 * action-form.tsx: the state of one card's fields and buttons: what the user has entered, and what a click sends. SPEC
 * KA7.
 */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { type ComponentChildren, createContext, type VNode } from "preact"
import { useContext, useMemo } from "preact/hooks"
import { describeField, isValidField, listActionFields } from "../../../shared/card/actions/build-action-call.ts"
import type { CardActions } from "../../../shared/card/actions/card-actions.ts"
import type { FilledView, ViewNode } from "../../../shared/card/view/view-node.ts"
import { toActionRef } from "../../../shared/protocol/cards/action-key.ts"
import type { FieldValues } from "../../../shared/protocol/cards/card-action.ts"
import type { WireMessage } from "../../../shared/protocol/server-frame.ts"
import type { CardActionHost } from "../card-registry.tsx"
import { type ActionState, listActionStates } from "./action-state.ts"

export type FieldNode = Extract<ViewNode, { readonly type: "field" }>
type ButtonNode = Extract<ViewNode, { readonly type: "button" }>

interface CardForm {
  /** What the user has entered, by field name. */
  readonly values: Signal<ReadonlyMap<string, string | boolean>>
  /** The names of fields that a click found empty or invalid. */
  readonly invalid: Signal<ReadonlySet<string>>
  readonly states: ReadonlySignal<ReadonlyMap<string, ActionState>>
  /** Whether sending is disabled in this conversation. */
  readonly isReadOnly: ReadonlySignal<boolean>
  isRepeatable(action: string): boolean
  /** Returns the name of the first invalid field; null if the click was sent, or if nothing can be sent. */
  act(button: ButtonNode): string | null
}

const NO_FORM: CardForm = {
  values: signal(new Map()),
  invalid: signal(new Set()),
  states: signal(new Map()),
  isReadOnly: signal(true),
  isRepeatable: () => false,
  act: () => null,
}

const CardFormContext = createContext<CardForm>(NO_FORM)

export function useCardForm(): CardForm {
  return useContext(CardFormContext)
}

interface ActionFormProps {
  readonly filled: FilledView
  readonly actions: CardActions
  readonly callId: string | undefined
  readonly host: CardActionHost | null
  readonly children: ComponentChildren
}

export function ActionForm({ filled, actions, callId, host, children }: ActionFormProps): VNode {
  const entered = useMemo(() => ({ values: signal(new Map()), invalid: signal(new Set<string>()) }), [])
  const form = useMemo(
    () => createForm({ filled, actions, callId, host }, entered.values, entered.invalid),
    [filled, actions, callId, host, entered],
  )
  return <CardFormContext.Provider value={form}>{children}</CardFormContext.Provider>
}

function createForm(
  { filled, actions, callId, host }: Omit<ActionFormProps, "children">,
  values: CardForm["values"],
  invalid: CardForm["invalid"],
): CardForm {
  const canSend = host?.sendMessage !== undefined && callId !== undefined
  return {
    values,
    invalid,
    isReadOnly: computed(() => !canSend || host.isReadOnly.value),
    states: computed(() => {
      if (host === null || callId === undefined) return new Map()
      return listActionStates(callId, readClickMessages(host, callId), host.outbox?.entries.value ?? [])
    }),
    isRepeatable: (name) => actions[name]?.repeatable === true,
    act(button) {
      const action = actions[button.action]
      if (action === undefined || host?.sendMessage === undefined || callId === undefined) return null
      const nodes = listActionFields(filled, action)
      const fields = readFields(nodes, values.peek())
      const wrong = nodes.filter((node) => !isValidField(node, fields[node.name])).map(({ name }) => name)
      invalid.value = new Set(wrong)
      if (wrong[0] !== undefined) return wrong[0]
      const words = [button.label.join(""), ...nodes.flatMap((node) => describeField(node, fields[node.name]))]
      host.sendMessage(words.join("\n"), {
        action: { ...toActionRef({ call_id: callId, name: button.action, item: button.item }), fields },
      })
      return null
    },
  }
}

/**
 * Returns the messages sent by clicks on a card, and their answers. Subscribes to no other messages, so that a growing
 * answer elsewhere doesn't re-render the card. Whether a message belongs to this set never changes.
 */
function readClickMessages({ store }: CardActionHost, callId: string): readonly WireMessage[] {
  const signals = store.messageIds.value.flatMap((id) => store.getMessageSignal(id) ?? [])
  const clicks = signals.filter((message) => message.peek().action?.call_id === callId)
  const exchanges = new Set(clicks.map((message) => message.peek().exchange_id))
  return signals.filter((message) => exchanges.has(message.peek().exchange_id)).map((message) => message.value)
}

/** Returns the values to send. Empty fields are left out. */
function readFields(nodes: readonly FieldNode[], values: ReadonlyMap<string, string | boolean>): FieldValues {
  const fields: { [name: string]: string | number | boolean } = {}
  for (const node of nodes) {
    const value = values.get(node.name) ?? getInitialValue(node)
    if (value === "" || value === false) continue
    const figure = Number(value)
    fields[node.name] = node.kind === "number" && typeof value === "string" && !Number.isNaN(figure) ? figure : value
  }
  return fields
}

export function getInitialValue({ kind, initial }: FieldNode): string | boolean {
  return kind === "check" ? initial === "true" : initial
}
