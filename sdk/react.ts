/** react.ts: the package entry `cuecard/react`: hooks for React ≥ 18. */

import { useMemo, useSyncExternalStore } from "react"
import { createSessionHooks, type SessionHooks } from "./session-hooks.ts"

export type { ConversationState, SessionHooks } from "./session-hooks.ts"

export const { useConversation, useSessions }: SessionHooks = createSessionHooks({ useMemo, useSyncExternalStore })
