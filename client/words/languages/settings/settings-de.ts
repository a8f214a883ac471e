/** settings-de.ts: the German strings for the settings page and charts, and the labels of tools. */

import { formatCount as n } from "../../format/number-format.ts"
import { formatPlural } from "../../format/plural.ts"
import type { SettingsWords } from "../words.ts"

const plural = formatPlural<"de">

export default {
  toolName: {
    weather: "Wetter",
    chart: "Diagramm",
    image_generate: "Bild",
    speak: "Sprachnachricht",
    canvas_create: "Dokument",
    search: "Suche",
    fetch_page: "Seite lesen",
    calculate: "Rechnung",
    timer: "Timer",
    list: "Liste",
    rename_conversation: "Unterhaltung umbenennen",
  },
  chart: {
    chartOf: (title) => `Diagramm: ${title}`,
    showTable: "Als Tabelle anzeigen",
    label: "Name",
    value: "Wert",
    moveAlong: "Punkte der Linie. Mit den Pfeiltasten lesen Sie sie.",
  },
  settings: {
    settings: "Einstellungen",
    back: "Zurück zum Chat",
    general: "Allgemein",
    language: "Sprache",
    theme: "Design",
    themes: { system: "System", dark: "Dunkel", light: "Hell" },
    units: "Temperatur",
    celsius: "Celsius (°C)",
    fahrenheit: "Fahrenheit (°F)",
    data: "Ihre Daten",
    exportTitle: "Alle Unterhaltungen exportieren",
    exportHint: "Speichert eine ZIP-Datei mit einer Datendatei (.jsonl) je Unterhaltung, auch der archivierten.",
    export: "Exportieren",
    exporting: (done) => `Wird exportiert … ${n(done)} fertig`,
    exported: (count) => plural(count, { one: "# Unterhaltung exportiert.", other: "# Unterhaltungen exportiert." }),
    exportedPartly: (count, failed) => `${n(count)} exportiert. Nicht exportiert: ${n(failed)}.`,
    nothingToExport: "Sie haben keine Unterhaltungen zum Exportieren.",
    deleteTitle: "Alle Unterhaltungen löschen",
    deleteHint:
      "Löscht alle Ihre Unterhaltungen und Dateien, auch archivierte. Das lässt sich nicht rückgängig machen.",
    delete: "Alle löschen …",
    deleteQuestion: "Alle Unterhaltungen löschen?",
    confirmWord: "löschen",
    typeWord: (word) => `Geben Sie zur Bestätigung „${word}“ ein`,
    deleteNow: "Alles löschen",
    deleting: (done) => `Wird gelöscht … ${n(done)} fertig`,
    deleted: (count) => plural(count, { one: "# Unterhaltung gelöscht.", other: "# Unterhaltungen gelöscht." }),
    deletedPartly: (failed) => `Nicht gelöscht: ${n(failed)}. Versuchen Sie es erneut.`,
    failed: (reason) => `Das hat nicht geklappt. ${reason}`,
    account: "Konto",
    signOutTitle: "Überall abmelden",
    signOutHint: "Beendet Ihre Anmeldungen in allen Browsern und auf allen Geräten, auch auf diesem.",
  },
} satisfies SettingsWords
