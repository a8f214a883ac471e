/**
 * find-bar.tsx: the find bar, which searches the open conversation. The server searches, so messages that aren't loaded
 * are also found.
 *
 * The field stays focused while the conversation scrolls to the hits. Source: SPEC LB7, LB8.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useMemo, useRef } from "preact/hooks"
import type { MessageHit } from "../../shared/protocol/http-body.ts"
import { describeError } from "../net/http-request.ts"
import type { SessionController } from "../session/session-controller.ts"
import { focusRequests } from "../ui/focus.ts"
import { appText } from "../words/page-text.ts"
import { searchText } from "../words/search/search-text.ts"
import { isFindBarOpen } from "./open-dialog.ts"
import { PagedSearch, type SearchState } from "./paged-search.ts"
import { searchSession } from "./search-api.ts"
import { isComposing } from "./shortcut-keys.ts"
import { SnippetText } from "./snippet-text.tsx"

function closeFindBar(): void {
  isFindBarOpen.value = false
  focusRequests.value++
}

export function FindBar({ controller }: { readonly controller: SessionController }): VNode {
  const field = useRef<HTMLInputElement>(null)
  /** The index of the hit that is shown; -1 before the first one is shown. */
  const index = useSignal(-1)
  const search = useMemo(() => {
    const { api, id } = controller
    return new PagedSearch<MessageHit>((query, next) => searchSession(api, id, query, next))
  }, [controller])
  useEffect(() => () => search.close(), [search])
  useEffect(() => field.current?.focus(), [])
  const { value: state } = search.state
  const setText = (text: string): void => {
    index.value = -1
    search.setQuery(text)
  }
  const move = async (step: -1 | 1): Promise<void> => {
    if (step === 1 && index.peek() + 1 >= search.state.peek().hits.length) await search.loadMore()
    const target = search.state.peek().hits[index.peek() + step]
    if (target === undefined) return
    index.value += step
    controller.targetId.value = target.message
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event)) return
    if (event.key === "Escape") closeFindBar()
    else if (event.key === "Enter" || event.key === "F3") void move(event.shiftKey ? -1 : 1)
    else return
    event.preventDefault()
  }
  const isAtEnd = index.value + 1 >= state.hits.length && state.next === null
  return (
    <search class="find-bar" aria-label={searchText.find} onKeyDown={onKeyDown}>
      <input
        ref={field}
        type="text"
        dir="auto"
        enterkeyhint="search"
        autocomplete="off"
        spellcheck={false}
        aria-label={searchText.find}
        placeholder={searchText.find}
        onInput={(event) => {
          if (!event.isComposing) setText(event.currentTarget.value)
        }}
        onCompositionEnd={(event) => setText(event.currentTarget.value)}
      />
      <FindStatus state={state} index={index.value} />
      <FindButton label={searchText.older} path="M5 12l5-5 5 5" isDisabled={isAtEnd} onClick={() => void move(1)} />
      <FindButton
        label={searchText.newer}
        path="M5 8l5 5 5-5"
        isDisabled={index.value <= 0}
        onClick={() => void move(-1)}
      />
      <FindButton label={appText.dismiss} path="M5.5 5.5l9 9M14.5 5.5l-9 9" onClick={closeFindBar} />
    </search>
  )
}

interface FindStatusProps {
  readonly state: SearchState<MessageHit>
  readonly index: number
}

function FindStatus({ state, index }: FindStatusProps): VNode {
  const { query, hits, next, isLoading, error } = state
  const hit = hits[index]
  const count = `${hits.length}${next === null ? "" : "+"}`
  const position = index < 0 && next === null ? searchText.count(hits.length) : searchText.position(index + 1, count)
  return (
    <p role="status">
      {error !== null && <span class="fault">{searchText.failed(describeError(error))}</span>}
      {error === null && isLoading && searchText.searching}
      {error === null && !isLoading && query !== "" && hits.length === 0 && searchText.nothing}
      {error === null && !isLoading && hits.length > 0 && position}
      {hit !== undefined && (
        <span class="visually-hidden">
          <SnippetText hit={hit} />
        </span>
      )}
    </p>
  )
}

interface FindButtonProps {
  readonly label: string
  readonly path: string
  readonly isDisabled?: boolean
  readonly onClick: () => void
}

/** A button that stays focusable when it is disabled, so that keyboard users don't lose the focus at the last hit. */
function FindButton({ label, path, isDisabled = false, onClick }: FindButtonProps): VNode {
  return (
    <button type="button" aria-label={label} title={label} aria-disabled={isDisabled} onClick={onClick}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d={path} />
      </svg>
    </button>
  )
}
