/**
 * attachment-chips.tsx: the composer's chips: attachments with their progress, and the message being replied to. Loaded
 * after the initial render, together with the overlay for dropped files.
 *
 * Source: SPEC PG67, PG73.
 */

import type { ComponentChildren, VNode } from "preact"
import { useState } from "preact/hooks"
import type { Asset } from "../../shared/protocol/event.ts"
import type { AttachmentUpload, AttachmentUploads } from "../files/attachment-uploads.ts"
import { getRunner } from "../files/upload-runner.ts"
import type { Quote } from "../session/quote.ts"
import { formatExtension } from "../words/media-descriptions.ts"
import { formatSize } from "../words/format/file-size.ts"
import { attachmentChipText } from "../words/attachment-chip-text.ts"

export { handlePaste } from "./paste-files.ts"
export { DropOverlay } from "../ui/drop-overlay.tsx"

interface AttachmentChipsProps {
  readonly attachments: AttachmentUploads
  /** Called when the button that was pressed has disappeared. */
  readonly onFocusLost: () => void
}

export function AttachmentChips({ attachments, onFocusLost }: AttachmentChipsProps): VNode | null {
  const entries = attachments.entries.value
  if (entries.length === 0) return null
  return (
    <>
      <ul class="chips" aria-label={attachmentChipText.list}>
        {entries.map((upload) => (
          <AttachmentChip key={upload.key} upload={upload} attachments={attachments} onFocusLost={onFocusLost} />
        ))}
      </ul>
      <p class="blocked" role="status">
        {describeBlocked(entries)}
      </p>
    </>
  )
}

/** Says why the message can't be sent. Empty if no upload has failed, even if some are still running. */
function describeBlocked(entries: readonly AttachmentUpload[]): string {
  const failed = entries.filter(({ state }) => state.at === "failed")
  const [first] = failed
  if (first === undefined) return ""
  if (failed.length > 1) return attachmentChipText.removeAllToSend(failed.length)
  const isFinal = first.state.at === "failed" && first.state.isFinal
  return isFinal ? attachmentChipText.removeToSend(first.name) : attachmentChipText.retryToSend(first.name)
}

interface AttachmentChipProps extends AttachmentChipsProps {
  readonly upload: AttachmentUpload
}

function AttachmentChip({ upload, attachments, onFocusLost }: AttachmentChipProps): VNode {
  const { key, name, size, previewUrl, state } = upload
  const [isPreviewBroken, setPreviewBroken] = useState(false)
  const removeUpload = (): void => {
    attachments.removeUpload(key)
    onFocusLost()
  }
  const retryUpload = (): void => {
    getRunner(attachments).retryUpload(key)
    onFocusLost()
  }
  const progress = state.at === "sending" ? state.sent / Math.max(size, 1) : state.at === "done" ? 1 : 0
  return (
    <li class="chip" data-state={state.at}>
      {previewUrl === null || isPreviewBroken ? (
        <span class="sign">{formatExtension(name)}</span>
      ) : (
        <img class="sign" src={previewUrl} alt="" onError={() => setPreviewBroken(true)} />
      )}
      <span class="what">
        <b dir="auto">{name}</b>{" "}
        <small role={state.at === "failed" ? "alert" : undefined}>{describeState(upload)}</small>
        {(state.at === "sending" || state.at === "waiting") && (
          <progress max={1} value={progress} aria-label={attachmentChipText.uploading(name)} />
        )}
      </span>
      {state.at === "failed" && !state.isFinal && (
        <ChipButton label={attachmentChipText.retry(name)} onActivate={retryUpload}>
          <path d="M15.8 8.2A6.2 6.2 0 1 0 16.2 10M16 4.5v3.8h-3.8" />
        </ChipButton>
      )}
      <ChipButton
        label={state.at === "sending" ? attachmentChipText.cancel(name) : attachmentChipText.remove(name)}
        onActivate={removeUpload}
      >
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
      return attachmentChipText.progress(formatSize(Math.min(state.sent, size)), formatSize(size))
    case "failed":
      return state.text
  }
}

interface ChipButtonProps {
  readonly label: string
  readonly onActivate: () => void
  readonly children: ComponentChildren
}

function ChipButton({ label, onActivate, children }: ChipButtonProps): VNode {
  return (
    <button type="button" aria-label={label} title={label} onClick={onActivate}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {children}
      </svg>
    </button>
  )
}

export function QuoteChip({ quote, onRemove }: { readonly quote: Quote; readonly onRemove: () => void }): VNode {
  return (
    <div class="chip quoted">
      <span class="what">
        <small>{attachmentChipText.replyTo(quote.author)}</small> <b>{quote.text}</b>
      </span>
      <ChipButton label={attachmentChipText.cancelReply} onActivate={onRemove}>
        <path d="M6 6l8 8M14 6l-8 8" />
      </ChipButton>
    </div>
  )
}

/** The names of an unsent message's attachments, which can't be displayed yet. */
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
