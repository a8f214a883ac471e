/**
 * share-dialog.tsx: the dialog for sharing a conversation, which lists, adds and removes viewers. Source: SPEC SH14.
 */

import { type Signal, signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import type { SessionViewer } from "../../shared/protocol/http-body.ts"
import { createParser, hasShape, isListOf, isNumber, isString } from "../../shared/protocol/shape-check.ts"
import { type Api, sessionPath } from "../net/api.ts"
import { describeError, parseBody, readJson } from "../net/http-request.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { formatTitle } from "../session/session-list.ts"
import { Dialog } from "../ui/dialog.tsx"
import { ShareLink } from "./share-link.tsx"
import { sharingText } from "../words/sharing-text.ts"

const parseViewers = createParser<{ readonly viewers: readonly SessionViewer[] }>({
  viewers: isListOf(hasShape<SessionViewer>({ user: isString, since: isNumber })),
})

interface ShareRequest {
  /** The session, as named in the page's URL. */
  readonly session: string
  readonly message: string
}

/** The request to share a conversation up to a message, from the message's menu. */
const shareRequest: Signal<ShareRequest | null> = signal(null)

export function shareUpTo(session: string, message: string): void {
  shareRequest.value = { session, message }
}

/** The dialog that shares a conversation up to a message. Renders nothing until a request is made. */
export function ShareUpToDialog({ router }: { readonly router: SessionRouter }): VNode | null {
  if (shareRequest.value === null) return null
  const { session, message } = shareRequest.value
  const title = router.sessionList.findTitle(session)
  const closeDialog = (): void => {
    shareRequest.value = null
  }
  return <ShareDialog key={message} api={router.api} id={session} title={title} upto={message} onClose={closeDialog} />
}

interface ShareDialogProps {
  readonly api: Api
  readonly id: string
  readonly title: string | undefined
  /** The last message to share by link; null for the latest finished message. */
  readonly upto?: string | null
  readonly onClose: () => void
}

/** The dialog that shares a conversation. Part of a conversation can be shared only by link. */
export function ShareDialog({ api, id, title, upto = null, onClose }: ShareDialogProps): VNode {
  return (
    <Dialog title={sharingText.title(formatTitle(title))} onCancel={onClose}>
      {upto === null && <ViewerSection api={api} id={id} />}
      <ShareLink api={api} id={id} upto={upto} />
      <p class="ways">
        <button type="button" onClick={onClose}>
          {sharingText.done}
        </button>
      </p>
    </Dialog>
  )
}

function ViewerSection({ api, id }: Pick<ShareDialogProps, "api" | "id">): VNode {
  const { viewers, fault, done, isBusy, change } = useViewers(api, id)
  const entered = useSignal("")
  const field = useRef<HTMLInputElement>(null)
  const fieldId = useId()
  const addViewer = async (): Promise<void> => {
    const user = entered.peek().trim()
    if (user === "" || !(await change("PUT", user))) return
    entered.value = ""
    field.current?.focus()
  }
  const removeViewer = async (user: string): Promise<void> => {
    // The button disappears with its row, so the focus moves to the field.
    if (await change("DELETE", user)) field.current?.focus()
  }
  return (
    <>
      <p>{sharingText.lead}</p>
      <form
        class="share"
        onSubmit={(event) => {
          event.preventDefault()
          void addViewer()
        }}
      >
        <label for={fieldId}>{sharingText.user}</label>
        <input
          id={fieldId}
          ref={field}
          data-first=""
          dir="auto"
          value={entered.value}
          required
          maxLength={64}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          onInput={(event) => (entered.value = event.currentTarget.value)}
        />
        <button type="submit" class="firm" disabled={isBusy}>
          {isBusy ? sharingText.adding : sharingText.add}
        </button>
      </form>
      {fault !== null && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <p class="visually-hidden" role="status">
        {done}
      </p>
      <ViewerList viewers={viewers} isBusy={isBusy} onRemove={(user) => void removeViewer(user)} />
    </>
  )
}

interface ViewerListProps {
  /** Null until the viewers have been loaded. */
  readonly viewers: readonly SessionViewer[] | null
  readonly isBusy: boolean
  readonly onRemove: (user: string) => void
}

function ViewerList({ viewers, isBusy, onRemove }: ViewerListProps): VNode {
  if (viewers === null || viewers.length === 0)
    return <p class="note">{viewers === null ? sharingText.loading : sharingText.nobody}</p>
  return (
    <>
      <h3>{sharingText.people}</h3>
      <ul class="viewers">
        {viewers.map(({ user }) => (
          <li key={user}>
            <bdi>{user}</bdi>
            <button
              type="button"
              aria-label={sharingText.removeUser(user)}
              disabled={isBusy}
              onClick={() => onRemove(user)}
            >
              {sharingText.remove}
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

function useViewers(api: Api, id: string) {
  const viewers = useSignal<readonly SessionViewer[] | null>(null)
  const fault = useSignal<string | null>(null)
  const done = useSignal("")
  const isBusy = useSignal(false)
  const runAction = async (action: () => Promise<void>): Promise<boolean> => {
    fault.value = null
    done.value = ""
    try {
      await action()
      const response = await api.fetchAuthorized(sessionPath(id, "/viewers"))
      viewers.value = (await parseBody(response, parseViewers)).viewers
      return true
    } catch (error) {
      fault.value = describeError(error)
      return false
    }
  }
  useEffect(() => void runAction(() => Promise.resolve()), [id])
  const changeViewer = async (method: "PUT" | "DELETE", user: string): Promise<boolean> => {
    if (isBusy.peek()) return false
    isBusy.value = true
    const isDone = await runAction(async () => {
      await readJson(await api.fetchAuthorized(sessionPath(id, `/viewers/${encodeURIComponent(user)}`), { method }))
      done.value = method === "PUT" ? sharingText.added(user) : sharingText.removed(user)
    })
    isBusy.value = false
    return isDone
  }
  return { viewers: viewers.value, fault: fault.value, done: done.value, isBusy: isBusy.value, change: changeViewer }
}
