/** react.ts: the package entry `cuecard/react`: hooks for React ≥ 18. */

import { useMemo, useSyncExternalStore } from "react"
import { createComponentHooks, type ComponentHooks } from "./component-hooks.ts"

export type { ConversationState, ComponentHooks } from "./component-hooks.ts"

export const { useConversation, useSessions }: ComponentHooks = createComponentHooks({ useMemo, useSyncExternalStore })
