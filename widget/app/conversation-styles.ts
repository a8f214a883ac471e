/** conversation-styles.ts: the styles of dialogs, notices and messages, loaded with the code that renders them. */

import dialog from "../../client/styles/dialog.css?inline"
import transcript from "../../client/styles/transcript/transcript.css?inline"
import toolCalls from "../../client/styles/transcript/tool-calls.css?inline"
import agents from "../../client/styles/transcript/agents.css?inline"
import acts from "../../client/styles/transcript/acts.css?inline"
import writing from "../../client/styles/writing/answer-tools.css?inline"
import prose from "../../client/styles/transcript/prose.css?inline"
import reading from "../../client/styles/transcript/reading.css?inline"
import formulas from "../../client/styles/transcript/formulas.css?inline"
import cards from "../../client/styles/transcript/cards.css?inline"
import chart from "../../client/styles/transcript/chart.css?inline"
import media from "../../client/styles/media/media.css?inline"
import audio from "../../client/styles/media/audio.css?inline"
import canvas from "../../client/styles/media/canvas.css?inline"
import files from "../../client/styles/media/files.css?inline"
import lightbox from "../../client/styles/media/lightbox.css?inline"
import rightToLeft from "../../client/styles/right-to-left.css?inline"
import forcedColors from "../../client/styles/print-forced-colors.css?inline"

export const CONVERSATION_STYLES: readonly string[] = [
  dialog,
  transcript,
  toolCalls,
  agents,
  acts,
  writing,
  prose,
  reading,
  formulas,
  cards,
  chart,
  media,
  audio,
  canvas,
  files,
  lightbox,
  rightToLeft,
  forcedColors,
]
