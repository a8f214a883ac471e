/** search-de.ts: the German strings for the command palette, search and keyboard shortcuts. */

import { formatPlural } from "../../format/plural.ts"
import type { SearchWords } from "../words.ts"

const plural = formatPlural<"de">

export default {
  search: {
    palette: "Unterhaltungen und Befehle durchsuchen",
    placeholder: "Unterhaltungen, Nachrichten und Befehle durchsuchen",
    results: "Ergebnisse",
    sections: {
      recent: "Letzte Unterhaltungen",
      sessions: "Unterhaltungen",
      commands: "Befehle",
      messages: "Nachrichten",
    },
    searching: "Suche läuft …",
    nothing: "Nichts gefunden.",
    count: (count) => plural(count, { one: "# Ergebnis", other: "# Ergebnisse" }),
    indexing: "Ältere Unterhaltungen werden noch indexiert.",
    failed: (reason) => `Die Suche ist fehlgeschlagen: ${reason}`,
    more: "Weitere Ergebnisse",
    retry: "Erneut versuchen",
    find: "In dieser Unterhaltung suchen",
    older: "Älterer Treffer",
    newer: "Neuerer Treffer",
    position: (index, count) => `${index} von ${count}`,
    shortcuts: "Tastenkürzel",
    or: "oder",
    singleKeys: "Kürzel mit nur einer Taste verwenden",
    commands: {
      newConversation: "Neue Unterhaltung",
      openPalette: "Suche und Befehle",
      findInConversation: "In dieser Unterhaltung suchen",
      focusList: "Zur Liste der Unterhaltungen",
      toggleSidebar: "Seitenleiste aus- oder einblenden",
      previousConversation: "Vorherige Unterhaltung",
      nextConversation: "Nächste Unterhaltung",
      previousMessage: "Vorherige Nachricht",
      nextMessage: "Nächste Nachricht",
      focusComposer: "Zum Eingabefeld",
      attachFile: "Datei anhängen",
      exportMarkdown: "Als Markdown exportieren",
      exportJsonl: "Als Datensätze exportieren (JSONL)",
      openSettings: "Einstellungen",
      changeTheme: "Design wechseln",
      showShortcuts: "Tastenkürzel",
    },
    otherKeys: {
      send: "Nachricht senden",
      newLine: "Neue Zeile",
      stop: "Antwort stoppen oder schließen, was offen ist",
    },
  },
} satisfies SearchWords
