/** settings-fr.ts: the French strings for the settings page and charts, and the labels of tools. */

import { formatCount as n } from "../../format/number-format.ts"
import { formatPlural } from "../../format/plural.ts"
import type { SettingsWords } from "../words.ts"

const plural = formatPlural<"fr">

export default {
  toolName: {
    weather: "Météo",
    chart: "Graphique",
    image_generate: "Image",
    speak: "Message vocal",
    canvas_create: "Document",
    search: "Recherche",
    fetch_page: "Lecture de page",
    calculate: "Calcul",
    timer: "Minuteur",
    list: "Liste",
    rename_conversation: "Renommer la conversation",
  },
  chart: {
    chartOf: (title) => `Graphique : ${title}`,
    showTable: "Afficher le tableau",
    label: "Nom",
    value: "Valeur",
    moveAlong: "Points de la courbe. Utilisez les touches fléchées pour les lire.",
  },
  settings: {
    settings: "Paramètres",
    back: "Retour à la conversation",
    general: "Général",
    language: "Langue",
    theme: "Thème",
    themes: { system: "Système", dark: "Sombre", light: "Clair" },
    units: "Température",
    celsius: "Celsius (°C)",
    fahrenheit: "Fahrenheit (°F)",
    data: "Vos données",
    exportTitle: "Exporter toutes les conversations",
    exportHint:
      "Enregistre un fichier ZIP avec un fichier de données (.jsonl) par conversation, y compris les conversations archivées.",
    export: "Exporter",
    exporting: (done) => `Exportation… ${n(done)} terminées`,
    exported: (count) =>
      plural(count, {
        one: "# conversation exportée.",
        many: "# de conversations exportées.",
        other: "# conversations exportées.",
      }),
    exportedPartly: (count, failed) => `${n(count)} exportées. Non exportées : ${n(failed)}.`,
    nothingToExport: "Vous n’avez aucune conversation à exporter.",
    deleteTitle: "Supprimer toutes les conversations",
    deleteHint:
      "Supprime toutes vos conversations et tous vos fichiers, y compris les conversations archivées. Cette action est irréversible.",
    delete: "Tout supprimer…",
    deleteQuestion: "Supprimer toutes les conversations ?",
    confirmWord: "supprimer",
    typeWord: (word) => `Saisissez « ${word} » pour confirmer`,
    deleteNow: "Tout supprimer",
    deleting: (done) => `Suppression… ${n(done)} terminées`,
    deleted: (count) =>
      plural(count, {
        one: "# conversation supprimée.",
        many: "# de conversations supprimées.",
        other: "# conversations supprimées.",
      }),
    deletedPartly: (failed) => `Non supprimées : ${n(failed)}. Réessayez.`,
    failed: (reason) => `Cela n’a pas fonctionné. ${reason}`,
    account: "Compte",
    signOutTitle: "Se déconnecter partout",
    signOutHint: "Met fin à vos connexions dans tous les navigateurs et sur tous les appareils, y compris celui-ci.",
  },
} satisfies SettingsWords
