/**
 * attachment-chips.tsx: in the composer: the files that go with the words, how far they are, and the message that is replied to.
 *
 * Source: SPEC PG67, PG73.
 */

import type { ComponentChildren, VNode } from "preact"
import type { Asset } from "../../shared/protocol/event.ts"
import { formatExtension, formatSize } from "../words/media-descriptions.ts"
import type { AttachmentUpload, AttachmentUploads } from "../files/attachment-uploads.ts"

interface AttachmentChipsProps {
  readonly attachments: AttachmentUploads
  /** A button went with its press. */
  readonly onFocusLost: () => void
}

export function AttachmentChips({ attachments: files, onFocusLost: onGone }: AttachmentChipsProps): VNode | null {
  const entries = files.entries.value
  if (entries.length === 0) return null
  return (
    <ul class="chips" aria-label="Files">
      {entries.map((upload) => (
        <AttachmentChip key={upload.key} {...{ file: upload, attachments: files, onFocusLost: onGone }} />
      ))}
    </ul>
  )
}

function AttachmentChip({
  file: upload,
  attachments: files,
  onFocusLost: onGone,
}: AttachmentChipsProps & { readonly file: AttachmentUpload }): VNode {
  const { key, name, size, previewUrl: preview, state } = upload
  const remove = (): void => {
    files.removeUpload(key)
    onGone()
  }
  const retry = (): void => {
    files.retryUpload(key)
    onGone()
  }
  const progress = state.at === "sending" ? state.sent / Math.max(size, 1) : state.at === "done" ? 1 : 0
  return (
    <li class="chip" data-state={state.at}>
      {preview === null ? <span class="sign">{formatExtension(name)}</span> : <img class="sign" src={preview} alt="" />}
      <span class="what">
        <b>{name}</b> <small role={state.at === "failed" ? "alert" : undefined}>{describeState(upload)}</small>
        {(state.at === "sending" || state.at === "waiting") && (
          <progress max={1} value={progress} aria-label={`${name} is on its way`} />
        )}
      </span>
      {state.at === "failed" && !state.isFinal && (
        <ChipButton label={`Try again: ${name}`} onActivate={retry}>
          <path d="M15.8 8.2A6.2 6.2 0 1 0 16.2 10M16 4.5v3.8h-3.8" />
        </ChipButton>
      )}
      <ChipButton label={`${state.at === "sending" ? "Cancel" : "Remove"}: ${name}`} onActivate={remove}>
        <path d="M6 6l8 8M14 6l-8 8" />
      </ChipButton>
    </li>
  )
}

function describeState({ size, state }: AttachmentUpload): string {
  switch (state.at) {
    case "waiting":
    case "done":
      return formatSize(size)
    case "sending":
      return `${formatSize(Math.min(state.sent, size))} of ${formatSize(size)}`
    case "failed":
      return state.text
  }
}

interface ChipButtonProps {
  readonly label: string
  readonly onActivate: () => void
  readonly children: ComponentChildren
}

function ChipButton({ label, onActivate: onAct, children }: ChipButtonProps): VNode {
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
  readonly author: string
  readonly text: string
}

export function QuoteChip({ quote, onRemove }: { readonly quote: Quote; readonly onRemove: () => void }): VNode {
  return (
    <div class="chip quoted">
      <span class="what">
        <small>Reply to {quote.author}</small> <b>{quote.text}</b>
      </span>
      <ChipButton label="Do not reply to it" onActivate={onRemove}>
        <path d="M6 6l8 8M14 6l-8 8" />
      </ChipButton>
    </div>
  )
}

/** Files of a message that is on its way, where nothing of them can be fetched yet: their names. */
export function AttachmentNames({ assets }: { readonly assets: readonly Asset[] | undefined }): VNode | null {
  if (assets === undefined || assets.length === 0) return null
  return (
    <div class="attached">
      {assets.map(({ id, label, size }) => (
        <span key={id} class="file">
          <span class="sign" aria-hidden="true">
            {formatExtension(label)}
          </span>
          <span class="what">
            <b>{label}</b> <small>{formatSize(size)}</small>
          </span>
        </span>
      ))}
    </div>
  )
}
