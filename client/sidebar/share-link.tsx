/**
 * share-link.tsx: the part of the sharing dialog that creates, lists and deletes public links. Source: SPEC SR11.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useId } from "preact/hooks"
import type { UserShare } from "../../shared/protocol/http-body.ts"
import { createParser, hasShape, isListOf, isNumber, isOptional, isString } from "../../shared/protocol/shape-check.ts"
import { type Api, sessionPath } from "../net/api.ts"
import { createJsonRequest, describeError, parseBody, readJson } from "../net/http-request.ts"
import { formatDate } from "../words/format/date-format.ts"
import { formatTitle } from "../session/session-list.ts"
import { shareLinkText } from "../words/share-link-text.ts"
import { writeToClipboard } from "../ui/copy-button.tsx"

/** `session` is absent in the list of one conversation's links. */
type Link = Omit<UserShare, "session"> & { readonly session?: string }

const DAY_MS = 24 * 60 * 60_000
/** The choices for the expiry, in days; 0 means that the link never expires. */
const EXPIRY_DAYS = [0, 1, 7, 30] as const

const linkChecks = {
  id: isString,
  url: isString,
  upto: isString,
  title: isString,
  created: isNumber,
  expires: (value: unknown) => value === null || isNumber(value),
  named: isOptional((value) => value === true),
  session: isOptional(isString),
}
const parseLink = createParser<Link>(linkChecks)
const parseLinks = createParser<{ readonly shares: readonly Link[] }>({ shares: isListOf(hasShape<Link>(linkChecks)) })

interface ShareLinkProps {
  readonly api: Api
  readonly id: string
  /** The id of the last message to share; null for the latest finished message. */
  readonly upto: string | null
}

export function ShareLink({ api, id, upto }: ShareLinkProps): VNode {
  const { links, isAll, fault, done, isBusy, createLink, deleteLink, toggleAll } = useLinks(api, id)
  const days = useSignal("0")
  const isNamed = useSignal(false)
  const [expiryId, nameId] = [useId(), useId()]
  const expiryTexts = [shareLinkText.never, shareLinkText.inDay, shareLinkText.inWeek, shareLinkText.inMonth]
  const create = (): void => {
    const expires = days.peek() === "0" ? undefined : Date.now() + Number(days.peek()) * DAY_MS
    void createLink({ expires, name: isNamed.peek(), ...(upto === null ? {} : { upto }) })
  }
  return (
    <section class="link-share" aria-label={shareLinkText.heading}>
      <h3>{shareLinkText.heading}</h3>
      <p>{upto === null ? shareLinkText.lead : shareLinkText.leadUpTo}</p>
      <div class="link-options">
        <label for={expiryId}>{shareLinkText.expires}</label>
        <select id={expiryId} value={days.value} onChange={({ currentTarget }) => (days.value = currentTarget.value)}>
          {EXPIRY_DAYS.map((count, at) => (
            <option key={count} value={String(count)}>
              {expiryTexts[at]}
            </option>
          ))}
        </select>
        <label for={nameId}>
          <input
            id={nameId}
            type="checkbox"
            checked={isNamed.value}
            onChange={({ currentTarget }) => (isNamed.value = currentTarget.checked)}
          />{" "}
          {shareLinkText.name}
        </label>
        <button type="button" class="firm" disabled={isBusy} onClick={create}>
          {isBusy ? shareLinkText.creating : shareLinkText.create}
        </button>
      </div>
      {fault !== null && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <p class="note" role="status">
        {done}
      </p>
      {links.length > 0 && <LinkList links={links} isBusy={isBusy} onDelete={deleteLink} />}
      {links.length === 0 && isAll && <p class="note">{shareLinkText.none}</p>}
      <button type="button" class="all-links" aria-pressed={isAll} onClick={toggleAll}>
        {shareLinkText.all}
      </button>
    </section>
  )
}

interface LinkListProps {
  readonly links: readonly Link[]
  readonly isBusy: boolean
  readonly onDelete: (link: Link) => void
}

/** The list of links, newest first. */
function LinkList({ links, isBusy, onDelete }: LinkListProps): VNode {
  return (
    <ul class="links" aria-label={shareLinkText.links}>
      {links.map((link) => {
        const { id, url, created, expires, named, session, title } = link
        const day = formatDate(created, { dateStyle: "medium" })
        const details = [
          shareLinkText.madeOn(day),
          ...(expires === null ? [] : [shareLinkText.until(formatDate(expires, { dateStyle: "medium" }))]),
          ...(named === true ? [shareLinkText.withName] : []),
        ]
        return (
          <li key={id}>
            {session !== undefined && <bdi>{formatTitle(title)}</bdi>}
            <input
              readOnly
              dir="ltr"
              value={url}
              aria-label={shareLinkText.address}
              onFocus={({ currentTarget }) => currentTarget.select()}
            />
            <span>{details.join(" · ")}</span>
            <button
              type="button"
              aria-label={shareLinkText.deleteLink(day)}
              disabled={isBusy}
              onClick={() => onDelete(link)}
            >
              {shareLinkText.delete}
            </button>
          </li>
        )
      })}
    </ul>
  )
}

interface NewLink {
  readonly upto?: string
  readonly expires: number | undefined
  readonly name: boolean
}

function useLinks(api: Api, id: string) {
  const links = useSignal<readonly Link[]>([])
  const fault = useSignal<string | null>(null)
  const done = useSignal("")
  const isBusy = useSignal(false)
  /** Whether the links of all conversations are listed. */
  const isAll = useSignal(false)
  const path = sessionPath(id, "/shares")
  const runAction = async (action: () => Promise<void>): Promise<void> => {
    if (isBusy.peek()) return
    isBusy.value = true
    fault.value = null
    done.value = ""
    try {
      await action()
      const list = await api.fetchAuthorized(isAll.peek() ? "/v1/shares" : path)
      links.value = (await parseBody(list, parseLinks)).shares
    } catch (error) {
      fault.value = describeError(error)
    } finally {
      isBusy.value = false
    }
  }
  useEffect(() => void runAction(() => Promise.resolve()), [id])
  const createLink = (link: NewLink): Promise<void> =>
    runAction(async () => {
      const created = await parseBody(await api.fetchAuthorized(path, createJsonRequest("POST", link)), parseLink)
      const isCopied = await writeToClipboard(created.url)
      // Without access to the clipboard, the user can copy the URL from the list.
      done.value = isCopied ? shareLinkText.copied : shareLinkText.created
    })
  const deleteLink = (link: Link): void =>
    void runAction(async () => {
      const linkPath = sessionPath(link.session ?? id, `/shares/${encodeURIComponent(link.id)}`)
      await readJson(await api.fetchAuthorized(linkPath, { method: "DELETE" }))
      done.value = shareLinkText.deleted
    })
  const toggleAll = (): void => {
    isAll.value = !isAll.peek()
    void runAction(() => Promise.resolve())
  }
  return {
    links: links.value,
    isAll: isAll.value,
    fault: fault.value,
    done: done.value,
    isBusy: isBusy.value,
    createLink,
    deleteLink,
    toggleAll,
  }
}
