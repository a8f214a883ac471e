/** session-heading.ts: what names the open session in the page's header and title, and where it was opened from. */

import { computed, type ReadonlySignal } from "@preact/signals"
import type { SessionController } from "./session-controller.ts"
import type { SessionList } from "./session-list.ts"

export interface SessionHeading {
  /** The title in the list; null if the list doesn't contain the session. */
  readonly title: string | null
  /** The agent that asked in this session. Null in a session of the user. */
  readonly askingAgent: string | null
  /** Id of the session from which an agent's session was opened. */
  readonly openedFrom: string | null
  /** Id of a session of the user that the list doesn't contain yet. */
  readonly unlistedId: string | null
}

const NO_HEADING: SessionHeading = { title: null, askingAgent: null, openedFrom: null, unlistedId: null }

export function createHeading(
  controller: ReadonlySignal<SessionController | null>,
  { sessions, isLoaded }: SessionList,
  openedFrom: ReadonlySignal<string | null>,
): ReadonlySignal<SessionHeading> {
  return computed(() => {
    const open = controller.value
    if (open === null) return NO_HEADING
    const title = sessions.value.find(({ id }) => id === open.id)?.title ?? null
    // The list doesn't contain agents' sessions.
    const askingAgent = title === null && isLoaded.value ? open.store.findAskingAgent() : null
    const isUnlisted = title === null && askingAgent === null && open.isLoaded.value
    return {
      title,
      askingAgent,
      openedFrom: askingAgent === null ? null : openedFrom.value,
      unlistedId: isUnlisted ? open.id : null,
    }
  })
}
