/**
 * parse-directives.ts: parses directives in text that does not belong to a message.
 *
 * This module is used for the trailers of tool results, and by other programs. Messages go through segmenter.ts, which
 * uses the same code. The text must already be sanitised. Pure.
 */

import { apply } from "../protocol/apply-ops.ts"
import type { Segment } from "../protocol/segment.ts"
import type { Grants } from "../protocol/message.ts"
import { grantsToPermit } from "./grant.ts"
import { createDelivery, type Drift } from "./part-segmenter.ts"
import { createSegmenter } from "./segmenter.ts"

export interface Directives {
  /** Prose, canvases and media, in order, without the directives. */
  readonly segments: readonly Segment[]
  /** Whether audio is shown as a voice note. */
  readonly voice: boolean
  readonly reply_to: string | null
  readonly drift: readonly Drift[]
}

export interface DirectiveContext extends Partial<Grants> {
  /** The id of the message that is being answered. */
  readonly current?: string
}

/**
 * Parses the directives in complete text.
 *
 * Shapes: (text, context) → Directives. Without a context, no external origin is allowed, no message id is known, and
 *         every asset URL is accepted.
 * Errors: none. A directive that does not apply is listed in `drift`.
 * Cost: linear in the length of the text.
 * Source: SPEC DR1–DR10.
 */
export function parseDirectives(text: string, { current = "current", ...grants }: DirectiveContext = {}): Directives {
  const delivery = createDelivery(current)
  const segmenter = createSegmenter([], { delivery, permit: grantsToPermit(grants) })
  const segments = apply([], [...segmenter.push(text), ...segmenter.end()])
  return { segments, voice: delivery.isVoice(), reply_to: delivery.getReplyTo(), drift: segmenter.drift }
}
