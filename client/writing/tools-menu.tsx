/**
 * tools-menu.tsx: the composer's menu: photos, screenshots, dictation, effort, saved prompts, allowed tools, agents and
 * notifications.
 */

import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import { type MenuItem, PopupMenu } from "../ui/popup-menu.tsx"
import { formatLocale } from "../words/languages/language.ts"
import { writingText } from "../words/writing-text.ts"
import { canNotify, isNotifying, switchNotifying } from "./answer-notifications.ts"
import { appendPhrase, canDictate, startDictation } from "./dictation.ts"
import { listAgentItems, useAgentItem } from "./agent-choice.ts"
import { createEffortItem, useEffortOffer } from "./effort-choice.tsx"
import { canTakePhoto, canTakeScreenshot, takeScreenshot } from "./screenshot.ts"
import { dictation, isChoosingAgent, menuAnchor, notice, openDialog } from "./tools-state.ts"
import type { WritingHost } from "./writing-host.ts"

export function ToolsButton(): VNode {
  const isOpen = menuAnchor.value !== null
  return (
    <button
      type="button"
      class="tools"
      aria-label={writingText.tools}
      title={writingText.tools}
      aria-haspopup="menu"
      aria-expanded={isOpen}
      onClick={({ currentTarget }) => (menuAnchor.value = isOpen ? null : currentTarget)}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M3.5 6h7M14.5 6h2M3.5 14h2M9.5 14h7" />
        <circle cx="12.5" cy="6" r="2" />
        <circle cx="7.5" cy="14" r="2" />
      </svg>
    </button>
  )
}

interface ToolsMenuProps {
  readonly host: WritingHost
  /** Absent if no files can be attached. */
  readonly onFiles: ((files: readonly File[]) => void) | undefined
}

/** The open menu, and the camera's file field, which remains after the menu closes. */
export function ToolsMenu({ host, onFiles }: ToolsMenuProps): VNode {
  const cameraRef = useRef<HTMLInputElement>(null)
  const anchor = menuAnchor.value
  const session = host.controller.value
  const offersEffort = useEffortOffer(host)
  const agentItem = useAgentItem(host)
  const toolItems: MenuItem[] = [
    ...(onFiles === undefined ? [] : listFileItems(onFiles, () => cameraRef.current?.click())),
    ...(canDictate() && dictation.value === null
      ? [{ label: writingText.dictate, onSelect: () => dictateInto(host) }]
      : []),
    ...(offersEffort ? [createEffortItem(host)] : []),
    { label: writingText.managePrompts, onSelect: () => (openDialog.value = "prompts") },
    ...(session === null ? [] : [{ label: writingText.allowedTools, onSelect: () => (openDialog.value = "allowed") }]),
    ...agentItem,
    ...(canNotify() ? [createNotifyItem()] : []),
  ]
  return (
    <>
      {onFiles !== undefined && (
        <input
          ref={cameraRef}
          type="file"
          accept="image/*"
          capture="environment"
          hidden
          onChange={(event) => {
            onFiles(Array.from(event.currentTarget.files ?? []))
            event.currentTarget.value = ""
          }}
        />
      )}
      {anchor !== null && (
        <PopupMenu
          // With another list of items, a new menu is created, which receives focus.
          key={String(isChoosingAgent.value)}
          label={isChoosingAgent.value ? writingText.agents : writingText.tools}
          items={isChoosingAgent.value ? listAgentItems(host) : toolItems}
          findAnchor={() => anchor}
          onClose={(isFocusHandled) => {
            menuAnchor.value = null
            if (!isFocusHandled) anchor.focus()
          }}
        />
      )}
    </>
  )
}

function listFileItems(onFiles: (files: readonly File[]) => void, openCamera: () => void): MenuItem[] {
  const attachScreenshot = async (): Promise<void> => {
    try {
      const file = await takeScreenshot(Date.now())
      if (file !== null) onFiles([file])
    } catch {
      notice.value = writingText.screenshotFailed
    }
  }
  return [
    ...(canTakePhoto() ? [{ label: writingText.takePhoto, onSelect: openCamera }] : []),
    ...(canTakeScreenshot() ? [{ label: writingText.takeScreenshot, onSelect: () => void attachScreenshot() }] : []),
  ]
}

function createNotifyItem(): MenuItem {
  const wanted = !isNotifying.value
  return {
    label: wanted ? writingText.notify : writingText.notifyOff,
    onSelect: () =>
      void switchNotifying(wanted).then((isAllowed) => {
        notice.value = isAllowed ? "" : writingText.notifyBlocked
      }),
  }
}

/** Adds each phrase that the browser recognises to the message. */
function dictateInto(host: WritingHost): void {
  notice.value = writingText.dictationNote
  const { draft } = host
  const stop = startDictation(formatLocale.peek(), {
    onText(phrase) {
      draft.text.value = appendPhrase(draft.text.peek(), phrase)
    },
    onEnd(hasFailed) {
      dictation.value = null
      notice.value = hasFailed ? writingText.dictationFailed : ""
    },
  })
  dictation.value = { stop }
}
