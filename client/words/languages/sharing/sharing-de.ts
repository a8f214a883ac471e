/** sharing-de.ts: the texts for sharing by link in German. */

import type { SharingWords } from "../words.ts"

export default {
  sharedView: {
    untitled: "Geteilte Unterhaltung",
    by: (author, day) => `Geteilt von ${author} am ${day}`,
    on: (day) => `Geteilt am ${day}`,
    note: "Das ist eine Kopie. Sie ändert sich nicht, wenn die Unterhaltung weitergeht.",
    more: "Weitere Nachrichten anzeigen",
    loading: "Wird geladen …",
    gone: "Diese Unterhaltung ist nicht verfügbar",
    goneHint: "Der Link ist vielleicht abgelaufen oder wurde gelöscht, oder ein Teil der Adresse fehlt.",
    failed: "Die Unterhaltung konnte nicht geladen werden.",
    retry: "Erneut versuchen",
  },
  shareLink: {
    heading: "Link für alle",
    lead: "Wer den Link hat, kann eine Kopie dieser Unterhaltung im jetzigen Stand lesen, mit Dateien, Gedankengängen und Tool-Aufrufen. Spätere Nachrichten kommen nicht hinzu.",
    leadUpTo:
      "Wer den Link hat, kann eine Kopie dieser Unterhaltung bis zur gewählten Nachricht lesen, mit Dateien, Gedankengängen und Tool-Aufrufen.",
    expires: "Läuft ab",
    never: "Nie",
    inDay: "In 1 Tag",
    inWeek: "In 7 Tagen",
    inMonth: "In 30 Tagen",
    name: "Meinen Namen anzeigen",
    create: "Link kopieren",
    creating: "Link wird erstellt …",
    copied: "Link kopiert",
    created: "Der Link wurde erstellt.",
    address: "Adresse des Links",
    links: "Links",
    madeOn: (day) => `Erstellt am ${day}`,
    until: (day) => `läuft am ${day} ab`,
    withName: "mit Ihrem Namen",
    delete: "Löschen",
    deleteLink: (day) => `Link vom ${day} löschen`,
    deleted: "Der Link wurde gelöscht. Er funktioniert nicht mehr.",
    shareUpTo: "Bis hier teilen",
    all: "Alle geteilten Links",
    none: "Sie haben keine Links geteilt.",
  },
} satisfies SharingWords
