/** settings-de.ts: the texts of the settings page and of charts, and the labels of tools, in German. */

import { formatCount as n } from "../../format/number-format.ts"
import type { SettingsWords } from "../words.ts"

export default {
  toolName: {
    weather: "Wetter",
    chart: "Diagramm",
    image_generate: "Bild",
    speak: "Sprachnachricht",
    canvas_create: "Dokument",
    search: "Suche",
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
    units: "Temperatur",
    celsius: "Celsius (°C)",
    fahrenheit: "Fahrenheit (°F)",
    data: "Ihre Daten",
    exportTitle: "Alle Unterhaltungen exportieren",
    exportHint: "Speichert eine ZIP-Datei mit einer Datendatei (.jsonl) je Unterhaltung, auch der archivierten.",
    export: "Exportieren",
    exporting: (done) => `Wird exportiert … ${n(done)} fertig`,
    exported: (count) => (count === 1 ? "1 Unterhaltung exportiert." : `${n(count)} Unterhaltungen exportiert.`),
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
    deleted: (count) => (count === 1 ? "1 Unterhaltung gelöscht." : `${n(count)} Unterhaltungen gelöscht.`),
    deletedPartly: (failed) => `Nicht gelöscht: ${n(failed)}. Versuchen Sie es erneut.`,
    failed: (reason) => `Das hat nicht geklappt. ${reason}`,
    account: "Konto",
    signOutTitle: "Überall abmelden",
    signOutHint: "Beendet Ihre Anmeldungen in allen Browsern und auf allen Geräten, auch auf diesem.",
  },
} satisfies SettingsWords
