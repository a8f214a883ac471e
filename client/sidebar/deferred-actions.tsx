/** deferred-actions.tsx: loads session-actions.tsx, which isn't needed for the initial render. */

import type { VNode } from "preact"
import type { SessionRouter } from "../session/session-router.ts"
import { deferModule } from "../ui/deferred-module.ts"

export const sessionActions = deferModule(() => import("./session-actions.tsx"))

/** Replaces the welcome screen where nothing can be written. */
export function ReadOnlyStart({ router }: { readonly router: SessionRouter }): VNode | null {
  const LoadedStart = sessionActions.module.value?.ReadOnlyStartText
  return LoadedStart === undefined ? null : <LoadedStart router={router} />
}

/** Replaces the composer where nothing can be written. */
export function ReadOnlyNote({ router }: { readonly router: SessionRouter }): VNode | null {
  const LoadedNote = sessionActions.module.value?.ReadOnlyText
  return LoadedNote === undefined ? null : <LoadedNote router={router} />
}

/** The note in a temporary conversation, and the dialog that an answer's menu opens. */
export function ConversationMarks({ router }: { readonly router: SessionRouter }): VNode | null {
  const LoadedMarks = sessionActions.module.value?.ConversationMarks
  return LoadedMarks === undefined ? null : <LoadedMarks router={router} />
}
