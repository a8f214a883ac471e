/** answer-menu-text.ts: the strings of an answer's menu. Loaded with the menu. */

import { translate } from "./languages/language.ts"

export const answerMenuText = translate("answerMenu", {
  more: "More",
  copyTrace: "Copy trace ID",
  copied: "Copied",
  copyFailed: "Couldn't copy",
})
