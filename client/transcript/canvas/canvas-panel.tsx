/**
 * canvas-panel.tsx: a canvas document beside the conversation, with its versions, its code and a download.
 *
 * In a wide window, the panel is part of the page; in a narrow window and in the widget, it is a modal sheet. The
 * document has the same frame as in the conversation. SPEC CP1–CP6.
 */

import { computed, effect, type Signal } from "@preact/signals"
import type { ComponentChildren, RefObject, VNode } from "preact"
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Segment } from "../../../shared/protocol/segment.ts"
import { CodeBlock } from "../../markdown/blocks/code-block.tsx"
import { CanvasDocument } from "../../media/canvas-view.tsx"
import { MediaIcon, type MediaIconName } from "../../media/media-icons.tsx"
import type { TranscriptStore } from "../../session/transcript-store.ts"
import { focusRequests } from "../../ui/focus.ts"
import { getActiveElement, getRootElement } from "../../ui/kept-focus/page-elements.ts"
import { saveBlob } from "../../ui/save-file.ts"
import type { CanvasSegment } from "../../words/media-descriptions.ts"
import { canvasPanelText } from "../../words/parts/canvas-panel-text.ts"
import { mediaText } from "../../words/parts/media-text.ts"
import { createHtmlFileName, findSavingArgs, listVersions, readSource } from "./canvas-versions.ts"
import { PanelResizer } from "./panel-resizer.tsx"
import { applyPanelWidth, panelWidthPercent } from "./panel-width.ts"

/** Matches windows with room for both the conversation and the panel. canvas-panel.css uses the same width. */
const WIDE_QUERY = "(min-width: 1100px)"

interface CanvasPanelProps {
  readonly store: TranscriptStore
  readonly opened: CanvasSegment
  readonly panel: Signal<CanvasSegment | null>
}

export function CanvasPanel({ store, opened, panel }: CanvasPanelProps): VNode {
  const dialogRef = useRef<HTMLDialogElement>(null)
  const [isCode, setCode] = useState(false)
  const { versions, source } = useVersions(store, opened)
  const { title = "" } = opened.preview
  const name = title === "" ? mediaText.document : title
  const closePanel = (): void => {
    panel.value = null
  }
  usePanelDialog(dialogRef)
  return (
    <dialog
      class="canvas-panel"
      ref={dialogRef}
      aria-label={mediaText.named(mediaText.document, name)}
      onCancel={(event) => {
        event.preventDefault()
        closePanel()
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.isComposing) return
        // Otherwise the page's own Escape handler would stop a running answer.
        event.preventDefault()
        closePanel()
      }}
    >
      <PanelResizer />
      <header>
        <b dir="auto">{name}</b>
        <ViewSwitch isCode={isCode} onChange={setCode} />
        <IconButton
          icon="download"
          label={mediaText.download}
          onActivate={source === null ? null : () => saveDocument(source, title)}
        />
        <IconButton icon="close" label={mediaText.close} hasInitialFocus onActivate={closePanel} />
      </header>
      {versions.length > 1 && (
        <VersionBar
          versions={versions}
          index={versions.findIndex(({ preview }) => preview.url === opened.preview.url)}
          onShow={(version) => {
            panel.value = version
          }}
        />
      )}
      {isCode ? <SourceView source={source} /> : <CanvasDocument key={opened.preview.url} segment={opened} />}
    </dialog>
  )
}

/**
 * Saves the source unchanged. When the saved file is opened, it is an ordinary page without the frame's restrictions.
 */
function saveDocument(source: string, title: string): void {
  saveBlob(new Blob([source, "\n"], { type: "text/html;charset=utf-8" }), createHtmlFileName(title))
}

interface Versions {
  readonly versions: readonly CanvasSegment[]
  readonly source: string | null
}

/**
 * Returns the versions and the saving call's arguments. Both are compared as text, so that a growing answer doesn't
 * re-render the panel.
 */
function useVersions(store: TranscriptStore, opened: CanvasSegment): Versions {
  const [versionsJson, args] = useMemo(
    () => [
      computed(() => JSON.stringify(listVersions(readSegments(store), opened))),
      computed(() => findSavingArgs(readSegments(store), opened)),
    ],
    [store, opened],
  )
  return { versions: JSON.parse(versionsJson.value), source: useMemo(() => readSource(args.value), [args.value]) }
}

/** Returns the segments of every shown message, and subscribes to these messages. */
function readSegments(store: TranscriptStore): readonly (readonly Segment[])[] {
  return store.messageIds.value.map((id) => store.getMessageSignal(id)?.value.segments ?? [])
}

/**
 * Opens the dialog beside or above the conversation, and reopens it when the window becomes wide or narrow. When the
 * dialog closes, the focus returns to where it was.
 */
function usePanelDialog(dialogRef: RefObject<HTMLDialogElement | null>): void {
  // Runs before the first paint. Otherwise the panel would open with the default width and jump to the stored one.
  useLayoutEffect(() => effect(() => applyPanelWidth(panelWidthPercent.value)), [])
  useEffect(() => () => applyPanelWidth(null), [])
  useLayoutEffect(() => {
    const dialog = dialogRef.current
    if (dialog === null) return undefined
    const previousFocus = getActiveElement()
    const wide = matchMedia(WIDE_QUERY)
    const openDialog = (): void => {
      dialog.close()
      // The widget must not cover the site's own page with an element that isn't modal.
      if (wide.matches && getRootElement() === document.documentElement) dialog.show()
      else dialog.showModal()
    }
    openDialog()
    dialog.querySelector<HTMLElement>("[data-first]")?.focus()
    wide.addEventListener("change", openDialog)
    return () => {
      wide.removeEventListener("change", openDialog)
      dialog.close()
      if (previousFocus instanceof HTMLElement && previousFocus.isConnected)
        previousFocus.focus({ preventScroll: true })
      // In a long conversation, the row that had the focus may have been removed.
      else focusRequests.value++
    }
  }, [])
}

interface ViewSwitchProps {
  readonly isCode: boolean
  readonly onChange: (isCode: boolean) => void
}

function ViewSwitch({ isCode, onChange }: ViewSwitchProps): VNode {
  const createButton = (text: string, value: boolean): ComponentChildren => (
    <button type="button" aria-pressed={isCode === value} onClick={() => onChange(value)}>
      {text}
    </button>
  )
  return (
    <span class="views">
      {createButton(canvasPanelText.preview, false)}
      {createButton(canvasPanelText.code, true)}
    </span>
  )
}

interface VersionBarProps {
  readonly versions: readonly CanvasSegment[]
  readonly index: number
  readonly onShow: (version: CanvasSegment) => void
}

function VersionBar({ versions, index, onShow }: VersionBarProps): VNode {
  const createButton = (icon: MediaIconName, label: string, to: number): ComponentChildren => {
    const version = versions[to]
    return <IconButton icon={icon} label={label} onActivate={version === undefined ? null : () => onShow(version)} />
  }
  return (
    <p class="versions">
      {createButton("back", canvasPanelText.previousVersion, index - 1)}
      <span aria-live="polite">{canvasPanelText.versionOf(index + 1, versions.length)}</span>
      {createButton("on", canvasPanelText.nextVersion, index + 1)}
    </p>
  )
}

function SourceView({ source }: { readonly source: string | null }): VNode {
  if (source === null) return <p class="note">{canvasPanelText.codeMissing}</p>
  return (
    <div class="source prose" dir="ltr">
      <CodeBlock key={source} lang="html" text={source} />
    </div>
  )
}

interface IconButtonProps {
  readonly icon: MediaIconName
  readonly label: string
  readonly hasInitialFocus?: boolean
  /** If null, the button is disabled but stays focusable. */
  readonly onActivate: (() => void) | null
}

function IconButton({ icon, label, hasInitialFocus = false, onActivate }: IconButtonProps): VNode {
  return (
    <button
      type="button"
      class="icon"
      data-first={hasInitialFocus ? "" : undefined}
      aria-label={label}
      title={label}
      aria-disabled={onActivate === null}
      onClick={() => onActivate?.()}
    >
      <MediaIcon name={icon} />
    </button>
  )
}
