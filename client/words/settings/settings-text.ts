/** settings-text.ts: the strings of the settings page. */

import { translate } from "../languages/language.ts"
import { formatCount } from "../format/number-format.ts"
import { formatPlural } from "../format/plural.ts"

export const settingsText = translate("settings", {
  settings: "Settings",
  back: "Back to chat",
  general: "General",
  language: "Language",
  theme: "Theme",
  themes: { system: "System", dark: "Dark", light: "Light" },
  units: "Temperature",
  celsius: "Celsius (°C)",
  fahrenheit: "Fahrenheit (°F)",
  data: "Your data",
  exportTitle: "Export all conversations",
  exportHint: "Saves a ZIP file with a data file (.jsonl) for each conversation, including archived ones.",
  export: "Export",
  exporting: (done: number) => `Exporting… ${formatCount(done)} done`,
  exported: (count: number) =>
    formatPlural<"en">(count, { one: "# conversation exported.", other: "# conversations exported." }),
  /** At least one failed. */
  exportedPartly: (count: number, failed: number) =>
    `${formatCount(count)} exported. ${formatCount(failed)} couldn't be exported.`,
  nothingToExport: "You have no conversations to export.",
  deleteTitle: "Delete all conversations",
  deleteHint: "Deletes all your files and conversations, including archived ones. This can't be undone.",
  delete: "Delete all…",
  deleteQuestion: "Delete all conversations?",
  /** The word that the user types to confirm. */
  confirmWord: "delete",
  typeWord: (word: string) => `Type “${word}” to confirm`,
  deleteNow: "Delete everything",
  deleting: (done: number) => `Deleting… ${formatCount(done)} done`,
  deleted: (count: number) =>
    formatPlural<"en">(count, { one: "# conversation deleted.", other: "# conversations deleted." }),
  deletedPartly: (failed: number) => `${formatCount(failed)} couldn't be deleted. Try again.`,
  failed: (reason: string) => `That didn't work. ${reason}`,
  account: "Account",
  signOutTitle: "Sign out everywhere",
  signOutHint: "Signs you out of all browsers and devices, including this one.",
})
