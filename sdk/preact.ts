/** preact.ts: the package entry `cuecard/preact`: hooks for Preact ≥ 10. */

import { useLayoutEffect, useMemo, useState } from "preact/hooks"
import { createComponentHooks, type ComponentHooks } from "./component-hooks.ts"

export type { ConversationState, ComponentHooks } from "./component-hooks.ts"

/** React's hook of the same name. Preact has it only in `preact/compat`, which is larger than these hooks. */
function useSyncExternalStore<T>(subscribe: (listener: () => void) => () => void, getSnapshot: () => T): T {
  const [, setChangeCount] = useState(0)
  const shown = getSnapshot()
  useLayoutEffect(() => {
    const redraw = (): void => setChangeCount((count) => count + 1)
    const unsubscribe = subscribe(redraw)
    // The snapshot may have changed between rendering and mounting.
    if (getSnapshot() !== shown) redraw()
    return unsubscribe
  }, [subscribe])
  return shown
}

export const { useConversation, useSessions }: ComponentHooks = createComponentHooks({ useMemo, useSyncExternalStore })
