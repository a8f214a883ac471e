/**
 * attachment-chips.tsx: in the composer: the files that go with the words, how far they are, and the message that is replied to.
 *
 * Source: SPEC PG42, PG43.
 */

import type { ComponentChildren, VNode } from "preact"
import type { Asset } from "../../shared/protocol/event.ts"
import { endingOf, sizeWords } from "../words/media-descriptions.ts"
import type { Attached, Files } from "../files/attachment-uploads.ts"

interface FileChipsProps {
  readonly files: Files
  /** A button went with its press. */
  readonly onGone: () => void
}

export function FileChips({ files, onGone }: FileChipsProps): VNode | null {
  const list = files.list.value
  if (list.length === 0) return null
  return (
    <ul class="chips" aria-label="Files">
      {list.map((file) => (
        <FileChip key={file.key} {...{ file, files, onGone }} />
      ))}
    </ul>
  )
}

function FileChip({ file, files, onGone }: FileChipsProps & { readonly file: Attached }): VNode {
  const { key, name, size, preview, state } = file
  const remove = (): void => {
    files.remove(key)
    onGone()
  }
  const retry = (): void => {
    files.retry(key)
    onGone()
  }
  const share = state.at === "sending" ? state.sent / Math.max(size, 1) : state.at === "done" ? 1 : 0
  return (
    <li class="chip" data-state={state.at}>
      {preview === null ? <span class="sign">{endingOf(name)}</span> : <img class="sign" src={preview} alt="" />}
      <span class="what">
        <b>{name}</b> <small role={state.at === "failed" ? "alert" : undefined}>{stateWords(file)}</small>
        {(state.at === "sending" || state.at === "waiting") && (
          <progress max={1} value={share} aria-label={`${name} is on its way`} />
        )}
      </span>
      {state.at === "failed" && !state.isFinal && (
        <ChipButton label={`Try again: ${name}`} onAct={retry}>
          <path d="M15.8 8.2A6.2 6.2 0 1 0 16.2 10M16 4.5v3.8h-3.8" />
        </ChipButton>
      )}
      <ChipButton label={`${state.at === "sending" ? "Cancel" : "Remove"}: ${name}`} onAct={remove}>
        <path d="M6 6l8 8M14 6l-8 8" />
      </ChipButton>
    </li>
  )
}

function stateWords({ size, state }: Attached): string {
  switch (state.at) {
    case "waiting":
    case "done":
      return sizeWords(size)
    case "sending":
      return `${sizeWords(Math.min(state.sent, size))} of ${sizeWords(size)}`
    case "failed":
      return state.text
  }
}

interface ChipButtonProps {
  readonly label: string
  readonly onAct: () => void
  readonly children: ComponentChildren
}

function ChipButton({ label, onAct, children }: ChipButtonProps): VNode {
  return (
    <button type="button" aria-label={label} title={label} onClick={onAct}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {children}
      </svg>
    </button>
  )
}

/** Whom and what a message replies to, in few words. */
export interface Quote {
  readonly who: string
  readonly words: string
}

export function QuoteChip({ quote, onRemove }: { readonly quote: Quote; readonly onRemove: () => void }): VNode {
  return (
    <div class="chip quoted">
      <span class="what">
        <small>Reply to {quote.who}</small> <b>{quote.words}</b>
      </span>
      <ChipButton label="Do not reply to it" onAct={onRemove}>
        <path d="M6 6l8 8M14 6l-8 8" />
      </ChipButton>
    </div>
  )
}

/** Files of a message that is on its way, where nothing of them can be fetched yet: their names. */
export function FileNames({ assets }: { readonly assets: readonly Asset[] | undefined }): VNode | null {
  if (assets === undefined || assets.length === 0) return null
  return (
    <div class="attached">
      {assets.map(({ id, label, size }) => (
        <span key={id} class="file">
          <span class="sign" aria-hidden="true">
            {endingOf(label)}
          </span>
          <span class="what">
            <b>{label}</b> <small>{sizeWords(size)}</small>
          </span>
        </span>
      ))}
    </div>
  )
}
