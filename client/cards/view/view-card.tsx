/**
 * view-card.tsx: a card that a tenant defined. Loaded on first use.
 *
 * All text comes from the template and the stored result; this file adds no text of its own. If the template is no
 * longer stored, or has nothing to show, only the model's text is shown. SPEC CV4, CV13.
 */

import type { VNode } from "preact"
import { useMemo } from "preact/hooks"
import type { CardActions } from "../../../shared/card/actions/card-actions.ts"
import { fillView } from "../../../shared/card/view/fill-view.ts"
import type { FilledView } from "../../../shared/card/view/view-node.ts"
import { formatLocale } from "../../words/languages/language.ts"
import { viewText } from "../../words/parts/view-text.ts"
import { useEntrance } from "../card-motion.ts"
import type { CardContent } from "../card-registry.tsx"
import { viewControls, ViewNodes } from "./view-nodes.tsx"
import { useCardView } from "./view-source.ts"

export function renderCard(content: CardContent, text: VNode | null): VNode | null {
  return <TenantCard content={content} text={text} />
}

interface TenantCardProps {
  readonly content: CardContent
  readonly text: VNode | null
}

function TenantCard({ content, text }: TenantCardProps): VNode {
  const { payload, view: reference = "", isFresh } = content
  const view = useCardView(reference)
  const locale = formatLocale.value
  const filled = useMemo(
    () => (view === "loading" || view === "gone" ? null : fillView(view, payload, { locale, labels: viewText.labels })),
    [view, payload, locale],
  )
  if (view === "loading") return <div class="card loading">{text}</div>
  if (filled === null) return <div class="without-card">{text}</div>
  const actions = view === "gone" ? undefined : view.actions
  return <FilledCard filled={filled} actions={actions} content={content} text={text} isFresh={isFresh} />
}

interface FilledCardProps {
  readonly filled: FilledView
  readonly actions: CardActions | undefined
  readonly content: CardContent
  readonly text: VNode | null
  readonly isFresh: boolean
}

function FilledCard({ filled, actions, content, text, isFresh }: FilledCardProps): VNode {
  const { title, root } = filled
  const { callId, host = null } = content
  const Form = viewControls.module.value?.ActionForm
  const nodes = <ViewNodes node={root} />
  const ref = useEntrance<HTMLDivElement>(isFresh)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form.
    <div class="card template" ref={ref} role="group" aria-label={title}>
      <div class="view-inner">
        {actions === undefined || Form === undefined ? (
          nodes
        ) : (
          <Form filled={filled} actions={actions} callId={callId} host={host}>
            {nodes}
          </Form>
        )}
      </div>
      {text !== null && <div class="synthesis">{text}</div>}
    </div>
  )
}
