/**
 * read-only-text.tsx: the text that replaces the composer and the welcome screen where nothing can be written: while
 * the tenant is leaving, in another user's shared conversation, and for users who may only read. Source: SPEC PG85,
 * SH13.
 */

import type { VNode } from "preact"
import { readIdentity } from "../account/identity.ts"
import { tokenResponse } from "../account/token-response.ts"
import { isShared } from "../net/api.ts"
import type { SessionController } from "../session/session-controller.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { Logo } from "../ui/logo.tsx"
import { formatDate } from "../words/format/date-format.ts"
import { readOnlyText } from "../words/sharing-text.ts"

export function ReadOnlyText({ router }: { readonly router: SessionRouter }): VNode {
  const open = router.controller.value
  const { erases_at: erasesAt } = router.settings.value
  return (
    <div class="read-only" role="status">
      {erasesAt !== undefined ? (
        <LeavingText erasesAt={erasesAt} hasUnsent={hasUnsent(router)} />
      ) : (
        <p>
          <bdi>{open !== null && isShared(open.id) ? describeShared(open) : readOnlyText.viewer}</bdi>
        </p>
      )}
    </div>
  )
}

/** Shown in place of the welcome screen while no conversation is open. */
export function ReadOnlyStartText({ router }: { readonly router: SessionRouter }): VNode | null {
  const { sessions, shared, isLoaded } = router.sessionList
  const isLeaving = router.settings.value.erases_at !== undefined
  const hasAny = sessions.value.length + shared.value.length > 0
  if (!hasAny && (isLeaving || !isLoaded.value)) return null
  return (
    <section class="welcome">
      <Logo />
      <h2>{hasAny ? readOnlyText.start : readOnlyText.nothing}</h2>
      <p>{hasAny ? readOnlyText.startHint : readOnlyText.nothingHint}</p>
    </section>
  )
}

function LeavingText({ erasesAt, hasUnsent }: { readonly erasesAt: number; readonly hasUnsent: boolean }): VNode {
  const isOwner = tokenResponse.value !== null && readIdentity(tokenResponse.value).role === "owner"
  return (
    <>
      <p>
        <b>{readOnlyText.leaving(formatDate(erasesAt, { dateStyle: "long", timeStyle: "short" }))}</b>{" "}
        {isOwner ? <a href="/admin#tenant">{readOnlyText.keep}</a> : readOnlyText.owners}
      </p>
      {hasUnsent && <p>{readOnlyText.kept}</p>}
    </>
  )
}

function describeShared({ id, link }: SessionController): string {
  const [owner = ""] = id.split("/")
  return link.value === "gone" ? readOnlyText.unshared(owner) : readOnlyText.shared(owner)
}

function hasUnsent({ controller, draft, startingEntry }: SessionRouter): boolean {
  const unsent = controller.value?.outbox.entries.value.length ?? 0
  return unsent > 0 || startingEntry.value !== null || draft.text.value.trim() !== ""
}
