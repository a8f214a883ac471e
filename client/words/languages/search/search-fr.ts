/** search-fr.ts: the French strings for the command palette, search and keyboard shortcuts. */

import { formatPlural } from "../../format/plural.ts"
import type { SearchWords } from "../words.ts"

const plural = formatPlural<"fr">

export default {
  search: {
    palette: "Rechercher des conversations et des commandes",
    placeholder: "Rechercher conversations, messages et commandes",
    results: "Résultats",
    sections: {
      recent: "Conversations récentes",
      sessions: "Conversations",
      commands: "Commandes",
      messages: "Messages",
    },
    searching: "Recherche…",
    nothing: "Aucun résultat.",
    count: (count) => plural(count, { one: "# résultat", many: "# de résultats", other: "# résultats" }),
    indexing: "L’indexation des anciennes conversations est en cours.",
    failed: (reason) => `La recherche a échoué : ${reason}`,
    more: "Plus de résultats",
    retry: "Réessayer",
    find: "Rechercher dans cette conversation",
    older: "Résultat plus ancien",
    newer: "Résultat plus récent",
    position: (index, count) => `${index} sur ${count}`,
    shortcuts: "Raccourcis clavier",
    or: "ou",
    singleKeys: "Utiliser les raccourcis à une seule touche",
    commands: {
      newConversation: "Nouvelle conversation",
      openPalette: "Recherche et commandes",
      findInConversation: "Rechercher dans cette conversation",
      focusList: "Aller à la liste des conversations",
      toggleSidebar: "Masquer ou afficher la barre latérale",
      previousConversation: "Conversation précédente",
      nextConversation: "Conversation suivante",
      previousMessage: "Message précédent",
      nextMessage: "Message suivant",
      focusComposer: "Aller au champ de saisie",
      attachFile: "Joindre un fichier",
      exportMarkdown: "Exporter en Markdown",
      exportJsonl: "Exporter les enregistrements (JSONL)",
      openSettings: "Paramètres",
      changeTheme: "Changer de thème",
      showShortcuts: "Raccourcis clavier",
    },
    otherKeys: {
      send: "Envoyer le message",
      newLine: "Nouvelle ligne",
      stop: "Arrêter la réponse, ou fermer ce qui est ouvert",
    },
  },
} satisfies SearchWords
