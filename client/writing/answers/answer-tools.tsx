/**
 * answer-tools.tsx: the buttons and the menu below an answer, which aren't needed when a conversation is first drawn.
 * Loaded after the transcript (deferred-writing.ts).
 */

import { nanoid } from "nanoid"
import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { WireMessage } from "../../../shared/protocol/server-frame.ts"
import { type Api, isShared } from "../../net/api.ts"
import { describeError } from "../../net/http-request.ts"
import { ActionButton } from "../../ui/action-button.tsx"
import type { DeferredModule } from "../../ui/deferred-module.ts"
import { followLink } from "./follow-link.ts"
import { type MenuItem, PopupMenu } from "../../ui/popup-menu.tsx"
import { answerMenuText } from "../../words/answer-menu-text.ts"
import { formatLocale } from "../../words/languages/language.ts"
import { shareLinkText } from "../../words/share-link-text.ts"
import { writingText } from "../../words/writing-text.ts"
import { branchSession } from "../writing-api.ts"
import { FeedbackButtons } from "./feedback-buttons.tsx"
import { findSessionFeedback } from "./feedback-store.ts"
import { canReadAloud, guessLanguage, readingId, startReading, stopReading } from "./read-aloud.ts"
import { UsageDialog } from "./usage-dialog.tsx"

export { AlwaysAllowButton } from "./always-allow-button.tsx"
export { FollowUps } from "./suggested-questions.tsx"
export { VersionSwitch } from "./version-switch.tsx"

interface AnswerToolsProps {
  readonly message: WireMessage
  /** The session, as named in the page's URL. */
  readonly session: string
  /** Undefined where nothing can be requested, as in a test or a shared copy. */
  readonly api: Api | undefined
  /** True if the user may change the conversation. */
  readonly canChange: boolean
  /** The code for the dialog that shares the conversation up to the answer. */
  readonly sharing: DeferredModule<{ shareUpTo(session: string, message: string): void }>
  /** Returns the text of the answer for reading it aloud. */
  readonly getSpokenText: () => string
  /** Copies text to the clipboard. Resolves with false if the browser refuses. */
  readonly writeText: (text: string) => Promise<boolean>
}

export function AnswerTools(props: AnswerToolsProps): VNode {
  const { message, session, api, canChange } = props
  const [isUsageOpen, setUsageOpen] = useState(false)
  const [status, setStatus] = useState("")
  const canRate = api !== undefined && canChange && !isShared(session)
  return (
    <>
      {canRate && <FeedbackButtons feedback={findSessionFeedback(api, session)} messageId={message.id} />}
      <AnswerMenuButton {...props} onUsage={() => setUsageOpen(true)} onStatus={setStatus} />
      {status !== "" && (
        <span class="note" role="status">
          {status}
        </span>
      )}
      {isUsageOpen && api !== undefined && (
        <UsageDialog
          api={api}
          session={session}
          messageId={message.id}
          ms={message.metrics?.ms ?? null}
          onClose={() => setUsageOpen(false)}
        />
      )}
    </>
  )
}

interface AnswerMenuButtonProps extends AnswerToolsProps {
  readonly onUsage: () => void
  readonly onStatus: (text: string) => void
}

/** How long a result is shown, in milliseconds. */
const RESULT_MS = 1_500

function AnswerMenuButton(props: AnswerMenuButtonProps): VNode | null {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [copyLabel, setCopyLabel] = useState<string | null>(null)
  const isReading = readingId.value === props.message.id
  const closeMenu = (isFocusHandled: boolean): void => {
    setAnchor(null)
    setCopyLabel(null)
    if (!isFocusHandled) anchor?.focus({ preventScroll: true })
  }
  useEffect(() => {
    const timer = copyLabel === null ? undefined : setTimeout(() => closeMenu(false), RESULT_MS)
    return () => clearTimeout(timer)
  }, [copyLabel])
  const share = async (): Promise<void> => {
    // The dialog returns the focus to the element that had it before, which must not be the closed menu.
    closeMenu(false)
    await props.sharing.load()
    props.sharing.module.peek()?.shareUpTo(props.session, props.message.id)
  }
  const canShare = isOwnSession(props) && props.canChange
  const onShare = canShare ? () => void share() : undefined
  // Deriving the text to read aloud is expensive, so this is done only if nothing else is in the menu.
  if (!isOwnSession(props) && props.message.trace === undefined && !hasReading(props)) return null
  return (
    <>
      {isReading && (
        <ActionButton label={writingText.stopReading} onActivate={stopReading}>
          <rect x="6" y="6" width="8" height="8" rx="1.5" />
        </ActionButton>
      )}
      <ActionButton
        label={answerMenuText.more}
        isExpanded={anchor !== null}
        onActivate={(button) => setAnchor(anchor === null ? button : null)}
      >
        <path d="M5 10h.1M10 10h.1M15 10h.1" />
      </ActionButton>
      {anchor !== null && (
        <PopupMenu
          label={answerMenuText.more}
          items={listItems(props, isReading, copyLabel, setCopyLabel, onShare)}
          findAnchor={() => anchor}
          onClose={closeMenu}
        />
      )}
      <span class="visually-hidden" role="status">
        {copyLabel ?? ""}
      </span>
    </>
  )
}

function isOwnSession({ api, session }: AnswerToolsProps): boolean {
  return api !== undefined && !isShared(session)
}

function hasReading({ getSpokenText }: AnswerToolsProps): boolean {
  return canReadAloud() && getSpokenText() !== ""
}

function listItems(
  props: AnswerMenuButtonProps,
  isReading: boolean,
  copyLabel: string | null,
  setCopyLabel: (label: string) => void,
  onShare: (() => void) | undefined,
): MenuItem[] {
  const { message, canChange, getSpokenText, writeText, onUsage } = props
  const { trace } = message
  const read = (): void => {
    const text = getSpokenText()
    startReading(message.id, text, guessLanguage(text) ?? formatLocale.peek())
  }
  const copyTrace = async (): Promise<void> =>
    setCopyLabel((await writeText(trace ?? "")) ? answerMenuText.copied : answerMenuText.copyFailed)
  const isOwn = isOwnSession(props)
  const reading = isReading
    ? { label: writingText.stopReading, onSelect: stopReading }
    : { label: writingText.readAloud, onSelect: read }
  return [
    ...(hasReading(props) ? [reading] : []),
    ...(onShare === undefined ? [] : [{ label: shareLinkText.shareUpTo, staysOpen: true, onSelect: onShare }]),
    ...(isOwn && canChange ? [{ label: writingText.branch, onSelect: () => void branch(props) }] : []),
    ...(isOwn ? [{ label: writingText.usage, onSelect: onUsage }] : []),
    ...(trace === undefined
      ? []
      : [{ label: copyLabel ?? answerMenuText.copyTrace, staysOpen: true, onSelect: () => void copyTrace() }]),
  ]
}

/** Creates and opens a new conversation with all messages up to this answer. */
async function branch({ api, session, message, onStatus }: AnswerMenuButtonProps): Promise<void> {
  if (api === undefined) return
  onStatus(writingText.loading)
  try {
    const id = await branchSession(api, session, message.id, nanoid())
    onStatus("")
    followLink(`#/s/${id}`)
  } catch (error) {
    onStatus(describeError(error))
  }
}
