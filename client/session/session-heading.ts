/**
 * session-heading.ts: the data that the top bar and the document title show: the open session, and the session from
 * which it was opened.
 */

import { computed, type ReadonlySignal } from "@preact/signals"
import { isAgentSession } from "../../shared/protocol/agent-session-id.ts"
import { appText } from "../words/page-text.ts"
import type { SessionController } from "./session-controller.ts"
import type { SessionList } from "./session-list.ts"

export interface SessionHeading {
  /**
   * The title in the list or, for a temporary session, a name that says so. Null if the list doesn't contain the
   * session.
   */
  readonly title: string | null
  /** Whether the open session belongs to an agent. The list doesn't contain such sessions. */
  readonly isAgentSession: boolean
  /**
   * The agent that asked the question in this session. Null in a user's session, and until a loaded message names the
   * agent.
   */
  readonly askingAgent: string | null
  /** The session's agent. Undefined for the general agent, and until the session is live. */
  readonly agent?: string | undefined
  /** The id of the session from which an agent's session was opened. */
  readonly openedFrom: string | null
}

const NO_HEADING: SessionHeading = {
  title: null,
  isAgentSession: false,
  askingAgent: null,
  openedFrom: null,
}

export function createHeading(
  controller: ReadonlySignal<SessionController | null>,
  sessionList: SessionList,
  openedFrom: ReadonlySignal<string | null>,
): ReadonlySignal<SessionHeading> {
  return computed(() => {
    const open = controller.value
    if (open === null) return NO_HEADING
    if (isAgentSession(open.id.replace(/.*\//, ""))) {
      const askingAgent = open.store.findAskingAgent()
      return { ...NO_HEADING, isAgentSession: true, askingAgent, openedFrom: openedFrom.value }
    }
    const title = sessionList.findTitle(open.id) ?? (open.store.isTemporary.value ? appText.temporaryChat : null)
    return { ...NO_HEADING, title, agent: open.agent.value }
  })
}
