/** search-es.ts: the Spanish strings for the command palette, search and keyboard shortcuts. */

import { formatPlural } from "../../format/plural.ts"
import type { SearchWords } from "../words.ts"

const plural = formatPlural<"es">

export default {
  search: {
    palette: "Buscar conversaciones y comandos",
    placeholder: "Buscar conversaciones, mensajes y comandos",
    results: "Resultados",
    sections: {
      recent: "Conversaciones recientes",
      sessions: "Conversaciones",
      commands: "Comandos",
      messages: "Mensajes",
    },
    searching: "Buscando…",
    nothing: "No se encontró nada.",
    count: (count) => plural(count, { one: "# resultado", many: "# de resultados", other: "# resultados" }),
    indexing: "Las conversaciones antiguas aún se están indexando.",
    failed: (reason) => `Error en la búsqueda: ${reason}`,
    more: "Más resultados",
    retry: "Intentar de nuevo",
    find: "Buscar en esta conversación",
    older: "Resultado anterior",
    newer: "Resultado siguiente",
    position: (index, count) => `${index} de ${count}`,
    shortcuts: "Atajos de teclado",
    or: "o",
    singleKeys: "Usar atajos de una sola tecla",
    commands: {
      newConversation: "Nueva conversación",
      openPalette: "Búsqueda y comandos",
      findInConversation: "Buscar en esta conversación",
      focusList: "Ir a la lista de conversaciones",
      toggleSidebar: "Ocultar o mostrar la barra lateral",
      previousConversation: "Conversación anterior",
      nextConversation: "Conversación siguiente",
      previousMessage: "Mensaje anterior",
      nextMessage: "Mensaje siguiente",
      focusComposer: "Ir al cuadro de mensaje",
      attachFile: "Adjuntar un archivo",
      exportMarkdown: "Exportar como Markdown",
      exportJsonl: "Exportar como registros (JSONL)",
      openSettings: "Configuración",
      changeTheme: "Cambiar tema",
      showShortcuts: "Atajos de teclado",
    },
    otherKeys: {
      send: "Enviar el mensaje",
      newLine: "Nueva línea",
      stop: "Detener la respuesta o cerrar lo que esté abierto",
    },
  },
} satisfies SearchWords
