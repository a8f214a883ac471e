/**
 * palette-dialog.tsx: the command palette: one field that finds conversations, commands and messages.
 *
 * The field stays focused; arrow keys move the active entry (the ARIA combobox pattern). Source: SPEC LB1 to LB6.
 */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from "preact/hooks"
import type { SearchHit } from "../../shared/protocol/http-body.ts"
import { describeError } from "../net/http-request.ts"
import { formatTitle } from "../session/session-list.ts"
import { useModalDialog } from "../ui/use-modal-dialog.ts"
import { formatRelativeTime } from "../words/format/relative-time.ts"
import { searchText } from "../words/search/search-text.ts"
import { openSearchDialog } from "./open-dialog.ts"
import { type CommandContext, openHash } from "./page-commands.ts"
import { PagedSearch, type SearchState } from "./paged-search.ts"
import { listPaletteCommands, type PaletteCommand } from "./palette-commands.ts"
import { listSections, type PaletteItem, type PaletteSection } from "./palette-items.ts"
import { searchAll } from "./search-api.ts"
import { ShortcutKeys } from "./shortcut-dialog.tsx"
import { isComposing } from "./shortcut-keys.ts"
import { SnippetText } from "./snippet-text.tsx"

type Item = PaletteItem<PaletteCommand>

/** How many entries Page Up and Page Down move by. */
const PAGE_STEP = 8

export function PaletteDialog({ context }: { readonly context: CommandContext }): VNode {
  const dialogRef = useRef<HTMLDialogElement>(null)
  const listId = useId()
  const palette = usePalette(context)
  const { items, activeIndex, search, text } = palette
  useModalDialog(dialogRef)
  return (
    <dialog
      class="box palette"
      ref={dialogRef}
      aria-label={searchText.palette}
      onClick={(event) => event.target === dialogRef.current && close()}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onKeyDown={palette.handleKey}
    >
      <div>
        <PaletteField
          text={text}
          listId={listId}
          activeId={items.length === 0 ? undefined : `${listId}-${activeIndex}`}
          onText={palette.setText}
        />
        <PaletteList {...palette} listId={listId} />
        <PaletteStatus
          state={search.state.value}
          count={items.length}
          text={text.value}
          onMore={() => void search.loadMore()}
        />
      </div>
    </dialog>
  )
}

interface Palette {
  readonly text: Signal<string>
  readonly search: PagedSearch<SearchHit>
  readonly sections: readonly PaletteSection<PaletteCommand>[]
  readonly items: readonly Item[]
  /** The index of the active entry; -1 if there is none. */
  readonly activeIndex: number
  setActive(index: number): void
  setText(text: string): void
  choose(item: Item | undefined): void
  handleKey(event: KeyboardEvent): void
}

function usePalette(context: CommandContext): Palette {
  const text = useSignal("")
  const active = useSignal(0)
  const search = useMemo(
    () => new PagedSearch<SearchHit>((query, next) => searchAll(context.router.api, query, next)),
    [],
  )
  useEffect(() => () => search.close(), [])
  const sections = listPalette(context, text.value, search.state.value.hits)
  const items = sections.flatMap((section) => section.items)
  const activeIndex = Math.min(active.value, items.length - 1)
  const choose = (item: Item | undefined): void => {
    if (item === undefined) return
    close()
    // Deferred until the dialog has closed, because closing it moves the focus.
    setTimeout(() => openItem(item, context))
  }
  return {
    text,
    search,
    sections,
    items,
    activeIndex,
    choose,
    setActive: (index) => (active.value = index),
    setText(value) {
      text.value = value
      active.value = 0
      search.setQuery(value)
    },
    handleKey(event) {
      if (isComposing(event)) return
      const moved = moveIndex(event.key, activeIndex, items.length)
      if (event.key === "Escape") close()
      else if (event.key === "Enter") choose(items[activeIndex])
      else if (moved !== null) active.value = moved
      else return
      event.preventDefault()
    },
  }
}

function listPalette(
  context: CommandContext,
  query: string,
  hits: readonly SearchHit[],
): readonly PaletteSection<PaletteCommand>[] {
  return listSections({
    query,
    hits,
    sessions: context.router.sessionList.sessions.value,
    commands: listPaletteCommands(context),
    getLabel: ({ label }) => label,
  })
}

function close(): void {
  openSearchDialog.value = null
}

function openItem(item: Item, context: CommandContext): void {
  if (item.kind === "command") item.command.run()
  else if (item.kind === "session") openHash(context.router, `#/s/${item.session}`)
  else openHash(context.router, `#/s/${item.hit.session}/m/${item.hit.message}`)
  context.isDrawerOpen.value = context.isDrawerOpen.peek() && item.kind === "command" && item.command.opensList === true
}

/** Returns the index of the entry that a key moves to; null for other keys. The arrow keys wrap around. */
function moveIndex(key: string, index: number, count: number): number | null {
  if (key === "ArrowDown") return (index + 1) % Math.max(1, count)
  if (key === "ArrowUp") return (index - 1 + count) % Math.max(1, count)
  if (key === "PageDown") return Math.max(0, Math.min(count - 1, index + PAGE_STEP))
  return key === "PageUp" ? Math.max(0, index - PAGE_STEP) : null
}

interface PaletteFieldProps {
  readonly text: Signal<string>
  readonly listId: string
  readonly activeId: string | undefined
  readonly onText: (text: string) => void
}

function PaletteField({ text, listId, activeId, onText }: PaletteFieldProps): VNode {
  return (
    <div class="palette-field">
      <SearchIcon />
      <input
        type="text"
        role="combobox"
        data-first
        dir="auto"
        autocomplete="off"
        spellcheck={false}
        enterkeyhint="go"
        aria-label={searchText.palette}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={activeId}
        aria-autocomplete="list"
        placeholder={searchText.placeholder}
        value={text.value}
        onInput={(event) => {
          // The text of an unfinished composition isn't a query yet.
          if (!event.isComposing) onText(event.currentTarget.value)
        }}
        onCompositionEnd={(event) => onText(event.currentTarget.value)}
      />
    </div>
  )
}

function SearchIcon(): VNode {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <path d="M8.8 14.1a5.3 5.3 0 1 0 0-10.6 5.3 5.3 0 0 0 0 10.6zM12.7 12.7l4 4" />
    </svg>
  )
}

type PaletteListProps = Pick<Palette, "sections" | "activeIndex" | "setActive" | "choose"> & { readonly listId: string }

function PaletteList({ sections, listId, activeIndex, setActive, choose }: PaletteListProps): VNode {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(
    () => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }),
    [activeIndex],
  )
  let index = -1
  return (
    <div class="palette-list" role="listbox" id={listId} aria-label={searchText.results} ref={list}>
      {sections.map(({ kind, items }) => (
        <fieldset aria-labelledby={`${listId}-${kind}`} key={kind}>
          <p role="presentation" id={`${listId}-${kind}`}>
            {searchText.sections[kind]}
          </p>
          {items.map((item) => {
            const at = ++index
            return (
              <button
                type="button"
                tabIndex={-1}
                role="option"
                id={`${listId}-${at}`}
                key={at}
                aria-selected={at === activeIndex}
                onPointerMove={() => setActive(at)}
                onClick={() => choose(item)}
              >
                <ItemContent item={item} />
              </button>
            )
          })}
        </fieldset>
      ))}
    </div>
  )
}

function ItemContent({ item }: { readonly item: Item }): VNode {
  if (item.kind === "command") {
    const [keys] = item.command.keys
    return (
      <>
        <span>{item.command.label}</span>
        {keys !== undefined && <ShortcutKeys keys={keys} />}
      </>
    )
  }
  const { title, at } = item.kind === "session" ? item : item.hit
  return (
    <>
      <bdi class="title">{formatTitle(title)}</bdi>
      <time>{formatRelativeTime(at, Date.now())}</time>
      {item.kind === "message" && <SnippetText hit={item.hit} />}
    </>
  )
}

interface PaletteStatusProps {
  readonly state: SearchState<SearchHit>
  readonly count: number
  readonly text: string
  readonly onMore: () => void
}

/** The status of the search, which screen readers announce, and the button that loads more. */
function PaletteStatus({ state, count, text, onMore }: PaletteStatusProps): VNode {
  const { isLoading, isPending, error, next } = state
  const isSearching = text.trim() !== ""
  const message =
    error !== null
      ? searchText.failed(describeError(error))
      : isLoading
        ? searchText.searching
        : isSearching && count === 0
          ? searchText.nothing
          : ""
  return (
    <div class="palette-status">
      <p role="status">
        {message}
        {message === "" && isSearching && <span class="visually-hidden">{searchText.count(count)}</span>}
        {isPending && isSearching && ` ${searchText.indexing}`}
      </p>
      {!isLoading && (next !== null || error !== null) && (
        <button type="button" onClick={onMore}>
          {error === null ? searchText.more : searchText.retry}
        </button>
      )}
    </div>
  )
}
