/** tool-name-text.ts: the labels of the built-in tools. */

import { translate } from "../languages/language.ts"

export const toolNameText = translate("toolName", {
  weather: "Weather",
  chart: "Chart",
  image_generate: "Image",
  speak: "Voice note",
  canvas_create: "Document",
  search: "Search",
  fetch_page: "Read page",
  calculate: "Calculation",
  timer: "Timer",
  list: "List",
  rename_conversation: "Rename conversation",
})

/** Returns the label of a tool, or its name if it has no label. */
export function getToolLabel(name: string): string {
  return Object.hasOwn(toolNameText, name) ? toolNameText[name as keyof typeof toolNameText] : name
}
