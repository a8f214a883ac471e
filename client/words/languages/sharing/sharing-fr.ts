/** sharing-fr.ts: the texts for sharing by link in French. */

import type { SharingWords } from "../words.ts"

export default {
  sharedView: {
    untitled: "Conversation partagée",
    by: (author, day) => `Partagée par ${author} le ${day}`,
    on: (day) => `Partagée le ${day}`,
    note: "Ceci est une copie. Elle ne change pas quand la conversation se poursuit.",
    more: "Afficher la suite",
    loading: "Chargement…",
    gone: "Cette conversation n’est pas disponible",
    goneHint: "Le lien a peut-être expiré ou été supprimé, ou l’adresse est incomplète.",
    failed: "Impossible de charger la conversation.",
    retry: "Réessayer",
  },
  shareLink: {
    heading: "Lien pour tous",
    lead: "Toute personne disposant du lien peut lire une copie de cette conversation dans son état actuel, avec ses fichiers, ses réflexions et ses appels d’outils. Les messages suivants n’y sont pas ajoutés.",
    leadUpTo:
      "Toute personne disposant du lien peut lire une copie de cette conversation jusqu’au message choisi, avec ses fichiers, ses réflexions et ses appels d’outils.",
    expires: "Expiration",
    never: "Jamais",
    inDay: "Dans 1 jour",
    inWeek: "Dans 7 jours",
    inMonth: "Dans 30 jours",
    name: "Afficher mon nom",
    create: "Copier le lien",
    creating: "Création du lien…",
    copied: "Lien copié",
    created: "Le lien a été créé.",
    address: "Adresse du lien",
    links: "Liens",
    madeOn: (day) => `Créé le ${day}`,
    until: (day) => `expire le ${day}`,
    withName: "avec votre nom",
    delete: "Supprimer",
    deleteLink: (day) => `Supprimer le lien créé le ${day}`,
    deleted: "Le lien a été supprimé. Il ne fonctionne plus.",
    shareUpTo: "Partager jusqu’ici",
    all: "Tous les liens partagés",
    none: "Vous n’avez partagé aucun lien.",
  },
} satisfies SharingWords
