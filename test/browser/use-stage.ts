/** use-stage.ts: starts what the states in page-states.ts need: a server, a browser, a site and the conversations. */

import type { Cuecard } from "cuecard/testing"
import { afterAll, beforeAll } from "vitest"
import { startCuecard } from "../support/checked-cuecard.ts"
import type { Stage, StateView } from "./open-states.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { type StateConversations, writeConversations } from "./state-conversations.ts"
import { type StartedTools, writeToolConversations } from "./tool-conversations.ts"
import { allowSites, type Site, startSite } from "./widget-pages.ts"

/** Returns a function that creates the stage for a view. Only tests and hooks may call that function. */
export function useStage(): (view: StateView) => Stage {
  const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })
  let site: Site
  let conversations: StateConversations
  let tools: StartedTools
  let signInServer: Promise<Cuecard> | null = null

  beforeAll(async () => {
    site = await startSite(setup.cuecard)
    await allowSites(setup.cuecard, [site.origin])
    tools = await writeToolConversations(setup.cuecard)
    conversations = await writeConversations(setup.cuecard)
  })
  afterAll(async () => {
    await site?.close()
    await tools?.close()
    await (await signInServer)?.close()
  })

  function startSignInServer(): Promise<Cuecard> {
    signInServer ??= startCuecard({ onLog: console.log, vars: { AUTH: "jwt", PAGE_TENANT: "acme" } })
    return signInServer
  }

  return (view) => ({
    ...setup,
    site,
    conversations,
    tools: tools.conversations,
    view,
    signInServer: startSignInServer,
  })
}
