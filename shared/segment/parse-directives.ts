/**
 * parse-directives.ts: what the directives of one text come to.
 *
 * text → pieces → DIRECTIVE
 * For readers of one text by itself: trusted tool results, tests, other programs. A message's own text goes through the
 * same segmenter in segment.ts. Its words are cleaned before.
 * Pure.
 */

import { apply } from "../protocol/apply-ops.ts"
import type { Segment } from "../protocol/segment.ts"
import type { Grants } from "../protocol/message.ts"
import { grantsToPermit } from "./grant.ts"
import { createDelivery, type Drift } from "./part-segmenter.ts"
import { createSegmenter } from "./segmenter.ts"

export interface Directives {
  /** Prose, canvases and media in their order; directives are stripped. */
  readonly segments: readonly Segment[]
  /** Its audio is a voice note. */
  readonly voice: boolean
  readonly reply_to: string | null
  readonly drift: readonly Drift[]
}

export interface DirectiveContext extends Partial<Grants> {
  /** Id of the message that is being answered. */
  readonly current?: string
}

/**
 * Reads one whole text.
 *
 * Shapes  (text, context) → Directives. Without a context nothing outside is allowed, no message is known, and
 *         every address of a file of ours will do.
 * Errors  none; drift.
 * Cost    linear in the text.
 * Source  SPEC DR1–DR10.
 */
export function parseDirectives(text: string, { current = "current", ...grants }: DirectiveContext = {}): Directives {
  const delivery = createDelivery(current)
  const segmenter = createSegmenter([], { delivery, permit: grantsToPermit(grants) })
  const segments = apply([], [...segmenter.push(text), ...segmenter.end()])
  return { segments, voice: delivery.isVoice(), reply_to: delivery.getReplyTo(), drift: segmenter.drift }
}
