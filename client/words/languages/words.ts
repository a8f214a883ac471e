/**
 * words.ts: the texts that every language has, by area.
 *
 * Their types are those of the English texts, so a text that a language lacks doesn't compile. Each interface is a file of
 * the language. Source: SPEC LG1.
 */

import type { FaultFields, TurnFault } from "../../../shared/fault.ts"
import type { accountText, signInText, signInErrorText } from "../account-text.ts"
import type { answerMenuText } from "../answer-menu-text.ts"
import type { attachmentChipText, refusedFileText } from "../attachment-chip-text.ts"
import type { budgetText } from "../budget-text.ts"
import type { chartText } from "../settings/chart-text.ts"
import type { importText } from "../import-text.ts"
import type {
  appText,
  welcomeText,
  connectionText,
  errorText,
  announcementText,
  composerText,
  attachmentText,
  conversationText,
  timeText,
  sizeText,
} from "../page-text.ts"
import type { mediaKindText } from "../media-descriptions.ts"
import type { rateWaitText } from "../rate-wait-text.ts"
import type { organizingText } from "../parts/organizing-text.ts"
import type { searchText } from "../search/search-text.ts"
import type { sessionActionText } from "../session-action-text.ts"
import type { settingsText } from "../settings/settings-text.ts"
import type { toolNameText } from "../settings/tool-name-text.ts"
import type { shareLinkText } from "../share-link-text.ts"
import type { sharedViewText } from "../shared-view-text.ts"
import type { sharingText, readOnlyText } from "../sharing-text.ts"
import type { toolText } from "../parts/call-text.ts"
import type { canvasPanelText } from "../parts/canvas-panel-text.ts"
import type { cardText } from "../parts/card-text.ts"
import type { inputText } from "../parts/input-text.ts"
import type { mcpConnectionText } from "../parts/mcp-connection-text.ts"
import type { mcpAppText } from "../parts/mcp-app-text.ts"
import type { viewText } from "../parts/view-text.ts"
import type { mediaText } from "../parts/media-text.ts"
import type { agentText } from "../parts/agent-text.ts"
import type { actionText, messageText } from "../parts/message-text.ts"
import type { readingText } from "../parts/reading-text.ts"
import type { exchangeText, markdownText, transcriptText } from "../transcript-text.ts"
import type { sidebarText } from "../parts/sidebar-text.ts"
import type { unsentText } from "../unsent-text.ts"
import type { writingText } from "../writing-text.ts"

/** The strings of the page itself. The first render waits for them. */
export interface PageWords {
  readonly app: typeof appText
  readonly welcome: typeof welcomeText
  readonly connection: typeof connectionText
  readonly error: typeof errorText
  readonly announcement: typeof announcementText
  readonly composer: typeof composerText
  readonly sidebar: typeof sidebarText & typeof conversationText
  readonly time: typeof timeText
  readonly size: typeof sizeText
  readonly mediaKind: typeof mediaKindText
  readonly transcript: typeof transcriptText & typeof messageText
  readonly action: typeof actionText
}

/** The strings for tool calls, media, Markdown and cards. */
export interface PartWords {
  readonly tool: typeof toolText
  readonly agent: typeof agentText & typeof exchangeText
  readonly media: typeof mediaText
  readonly canvasPanel: typeof canvasPanelText
  readonly mcpConnection: typeof mcpConnectionText
  readonly mcpApp: typeof mcpAppText
  readonly input: typeof inputText
  readonly markdown: typeof markdownText & typeof readingText
  readonly card: typeof cardText
  readonly view: typeof viewText
}

/** The strings for attachments and imports. */
export interface FileWords {
  readonly attachment: typeof attachmentText & typeof refusedFileText
  readonly attachmentChip: typeof attachmentChipText
  readonly import: typeof importText
}

/** The strings for menus, dialogs and sign-in. */
export interface DialogWords {
  readonly rateWait: typeof rateWaitText
  readonly account: typeof accountText
  readonly signIn: typeof signInText
  readonly budget: typeof budgetText
  readonly sessionAction: typeof sessionActionText
  readonly organizing: typeof organizingText
  readonly sharing: typeof sharingText
  readonly readOnly: typeof readOnlyText
  readonly unsent: typeof unsentText
  readonly answerMenu: typeof answerMenuText
}

/** The texts for sharing by link. */
export interface SharingWords {
  readonly sharedView: typeof sharedViewText
  readonly shareLink: typeof shareLinkText
}

/** The strings for writing messages and working with answers. */
export interface WritingWords {
  readonly writing: typeof writingText
}

/** The strings for the command palette, search and keyboard shortcuts. */
export interface SearchWords {
  readonly search: typeof searchText
}

/** The error messages. */
export interface FaultTexts {
  readonly fault: { readonly word: (code: string, text: string, fields: FaultFields) => string }
  readonly signInError: typeof signInErrorText
  readonly endReason: Readonly<Record<TurnFault, string>>
}

/** The strings for the settings page and charts, and the labels of tools. */
export interface SettingsWords {
  readonly settings: typeof settingsText
  readonly chart: typeof chartText
  readonly toolName: typeof toolNameText
}

export interface Words
  extends PageWords,
    PartWords,
    FileWords,
    DialogWords,
    SearchWords,
    SharingWords,
    WritingWords,
    FaultTexts,
    SettingsWords {}
