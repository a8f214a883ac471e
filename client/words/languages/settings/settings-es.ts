/** settings-es.ts: the Spanish strings for the settings page and charts, and the labels of tools. */

import { formatCount as n } from "../../format/number-format.ts"
import { formatPlural } from "../../format/plural.ts"
import type { SettingsWords } from "../words.ts"

const plural = formatPlural<"es">

export default {
  toolName: {
    weather: "El tiempo",
    chart: "Gráfico",
    image_generate: "Imagen",
    speak: "Nota de voz",
    canvas_create: "Documento",
    search: "Búsqueda",
    fetch_page: "Leer página",
    calculate: "Cálculo",
    timer: "Temporizador",
    list: "Lista",
    rename_conversation: "Cambiar el nombre de la conversación",
  },
  chart: {
    chartOf: (title) => `Gráfico: ${title}`,
    showTable: "Mostrar como tabla",
    label: "Nombre",
    value: "Valor",
    moveAlong: "Puntos de la línea. Usa las teclas de flecha para leerlos.",
  },
  settings: {
    settings: "Configuración",
    back: "Volver al chat",
    general: "General",
    language: "Idioma",
    theme: "Tema",
    themes: { system: "Sistema", dark: "Oscuro", light: "Claro" },
    units: "Temperatura",
    celsius: "Celsius (°C)",
    fahrenheit: "Fahrenheit (°F)",
    data: "Tus datos",
    exportTitle: "Exportar todas las conversaciones",
    exportHint: "Guarda un archivo ZIP con un archivo de datos (.jsonl) por conversación, incluidas las archivadas.",
    export: "Exportar",
    exporting: (done) => `Exportando… ${n(done)} listas`,
    exported: (count) =>
      plural(count, {
        one: "# conversación exportada.",
        many: "# de conversaciones exportadas.",
        other: "# conversaciones exportadas.",
      }),
    exportedPartly: (count, failed) => `Exportadas: ${n(count)}. No exportadas: ${n(failed)}.`,
    nothingToExport: "No tienes conversaciones que exportar.",
    deleteTitle: "Eliminar todas las conversaciones",
    deleteHint:
      "Elimina todas tus conversaciones y archivos, incluidas las conversaciones archivadas. No se puede deshacer.",
    delete: "Eliminar todo…",
    deleteQuestion: "¿Eliminar todas las conversaciones?",
    confirmWord: "eliminar",
    typeWord: (word) => `Escribe «${word}» para confirmar`,
    deleteNow: "Eliminar todo",
    deleting: (done) => `Eliminando… ${n(done)} listas`,
    deleted: (count) =>
      plural(count, {
        one: "# conversación eliminada.",
        many: "# de conversaciones eliminadas.",
        other: "# conversaciones eliminadas.",
      }),
    deletedPartly: (failed) => `No eliminadas: ${n(failed)}. Inténtalo de nuevo.`,
    failed: (reason) => `No funcionó. ${reason}`,
    account: "Cuenta",
    signOutTitle: "Cerrar sesión en todas partes",
    signOutHint: "Cierra tu sesión en todos los navegadores y dispositivos, incluido este.",
  },
} satisfies SettingsWords
