/** sharing-es.ts: the texts for sharing by link in Spanish. */

import type { SharingWords } from "../words.ts"

export default {
  sharedView: {
    untitled: "Conversación compartida",
    by: (author, day) => `Compartida por ${author} el ${day}`,
    on: (day) => `Compartida el ${day}`,
    note: "Esta es una copia. No cambia cuando la conversación continúa.",
    more: "Mostrar más mensajes",
    loading: "Cargando…",
    gone: "Esta conversación no está disponible",
    goneHint: "Puede que el enlace haya caducado o se haya eliminado, o que falte parte de la dirección.",
    failed: "No se pudo cargar la conversación.",
    retry: "Intentar de nuevo",
  },
  shareLink: {
    heading: "Enlace para todos",
    lead: "Cualquier persona con el enlace puede leer una copia de esta conversación tal como está ahora, con sus archivos, razonamientos y llamadas a herramientas. Los mensajes posteriores no se añaden.",
    leadUpTo:
      "Cualquier persona con el enlace puede leer una copia de esta conversación hasta el mensaje seleccionado, con sus archivos, razonamientos y llamadas a herramientas.",
    expires: "Caduca",
    never: "Nunca",
    inDay: "En 1 día",
    inWeek: "En 7 días",
    inMonth: "En 30 días",
    name: "Mostrar mi nombre",
    create: "Copiar enlace",
    creating: "Creando enlace…",
    copied: "Enlace copiado",
    created: "Se creó el enlace.",
    address: "Dirección del enlace",
    links: "Enlaces",
    madeOn: (day) => `Creado el ${day}`,
    until: (day) => `caduca el ${day}`,
    withName: "con tu nombre",
    delete: "Eliminar",
    deleteLink: (day) => `Eliminar el enlace creado el ${day}`,
    deleted: "Se eliminó el enlace. Ya no funciona.",
    shareUpTo: "Compartir hasta aquí",
    all: "Todos los enlaces compartidos",
    none: "No has compartido ningún enlace.",
  },
} satisfies SharingWords
