/**
 * title-giver.ts: decides, when an answer has ended, whether the model is asked for a title (SPEC OG20).
 */

import type { Env } from "../../env.ts"
import type { TenantSettings } from "../../settings/agent-config.ts"
import { SessionErasedError } from "../../store/storage-gate.ts"
import type { LiveSession } from "../live-session.ts"

export interface TitleGiver {
  /** Called when no turn is running. Nothing waits for the title. */
  giveTitleIfDue(): void
}

/** Creates the title giver. `show` updates the lists that contain the title. */
export function createTitleGiver(env: Env, session: LiveSession, show: (title: string) => Promise<void>): TitleGiver {
  /** Whether the title may still be the first words of the conversation. */
  let mayBeUntitled = true
  const isDue = (): boolean => {
    if (!mayBeUntitled || !wantsTitles(env, session.agentView.settings)) return false
    const source = session.store.readTitleSource()
    mayBeUntitled = source === null || source === "words"
    return source === "words"
  }
  const giveTitle = async (): Promise<void> => {
    const { titleSession } = await import("./auto-title.ts")
    await titleSession(session, show)
  }
  return {
    giveTitleIfDue() {
      try {
        if (isDue()) void giveTitle()
      } catch (error) {
        if (!(error instanceof SessionErasedError)) throw error
      }
    },
  }
}

/** Whether sessions get titles. The tenant's settings take precedence over the deployment's. */
function wantsTitles({ AUTO_TITLES }: Env, settings: TenantSettings | undefined): boolean {
  return settings?.titles ?? AUTO_TITLES !== "off"
}
