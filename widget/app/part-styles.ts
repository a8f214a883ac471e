/**
 * part-styles.ts: the styles of message buttons and notes, tool calls, cards, media, dialogs, print and forced colours,
 * loaded after those of text.
 */

import temporaryChat from "../../client/styles/sidebar/temporary-chat.css?inline"
import dialog from "../../client/styles/dialog.css?inline"
import linkShare from "../../client/styles/sidebar/link-share.css?inline"
import notes from "../../client/styles/transcript/notes.css?inline"
import toolCalls from "../../client/styles/transcript/tool-calls.css?inline"
import agents from "../../client/styles/transcript/agents.css?inline"
import requests from "../../client/styles/transcript/requests.css?inline"
import acts from "../../client/styles/transcript/acts.css?inline"
import writing from "../../client/styles/writing/answer-tools.css?inline"
import tables from "../../client/styles/transcript/tables.css?inline"
import reading from "../../client/styles/transcript/reading.css?inline"
import formulas from "../../client/styles/transcript/formulas.css?inline"
import cards from "../../client/styles/transcript/cards.css?inline"
import chart from "../../client/styles/transcript/chart.css?inline"
import view from "../../client/styles/transcript/view.css?inline"
import viewForm from "../../client/styles/transcript/view-form.css?inline"
import inputForm from "../../client/styles/transcript/input-form.css?inline"
import viewPictures from "../../client/styles/transcript/view-pictures.css?inline"
import sources from "../../client/styles/transcript/sources.css?inline"
import media from "../../client/styles/media/media.css?inline"
import audio from "../../client/styles/media/audio.css?inline"
import canvas from "../../client/styles/media/canvas.css?inline"
import canvasPanel from "../../client/styles/media/canvas-panel.css?inline"
import files from "../../client/styles/media/files.css?inline"
import lightbox from "../../client/styles/media/lightbox.css?inline"
import forcedColors from "../../client/styles/print-forced-colors.css?inline"
import type { StyleTexts } from "./widget-styles.ts"

export const PART_STYLES: StyleTexts = {
  temporaryChat,
  dialog,
  linkShare,
  notes,
  toolCalls,
  agents,
  requests,
  acts,
  writing,
  tables,
  reading,
  formulas,
  cards,
  chart,
  view,
  viewForm,
  inputForm,
  viewPictures,
  sources,
  media,
  audio,
  canvas,
  canvasPanel,
  files,
  lightbox,
  forcedColors,
}
