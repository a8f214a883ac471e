/** canvas-panel-text.ts: the strings of the panel that shows a canvas document beside the conversation. */

import { translate } from "../languages/language.ts"

export const canvasPanelText = translate("canvasPanel", {
  open: "Open in panel",
  resize: "Width of the panel",
  preview: "Preview",
  code: "Code",
  /** The code is in a message that isn't loaded, or was never part of the conversation. */
  codeMissing: "The code of this document isn't available here.",
  versionOf: (position: number, count: number) => `Version ${position} of ${count}`,
  previousVersion: "Previous version",
  nextVersion: "Next version",
})
