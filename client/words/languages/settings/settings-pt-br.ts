/** settings-pt-br.ts: the Brazilian Portuguese strings for the settings page and charts, and the labels of tools. */

import { formatCount as n } from "../../format/number-format.ts"
import { formatPlural } from "../../format/plural.ts"
import type { SettingsWords } from "../words.ts"

const plural = formatPlural<"pt-BR">

export default {
  toolName: {
    weather: "Tempo",
    chart: "Gráfico",
    image_generate: "Imagem",
    speak: "Mensagem de voz",
    canvas_create: "Documento",
    search: "Pesquisa",
    fetch_page: "Ler página",
    calculate: "Cálculo",
    timer: "Temporizador",
    list: "Lista",
    rename_conversation: "Renomear a conversa",
  },
  chart: {
    chartOf: (title) => `Gráfico: ${title}`,
    showTable: "Mostrar como tabela",
    label: "Nome",
    value: "Valor",
    moveAlong: "Pontos da linha. Use as teclas de seta para lê-los.",
  },
  settings: {
    settings: "Configurações",
    back: "Voltar ao chat",
    general: "Geral",
    language: "Idioma",
    theme: "Tema",
    themes: { system: "Sistema", dark: "Escuro", light: "Claro" },
    units: "Temperatura",
    celsius: "Celsius (°C)",
    fahrenheit: "Fahrenheit (°F)",
    data: "Seus dados",
    exportTitle: "Exportar todas as conversas",
    exportHint: "Salva um arquivo ZIP com um arquivo de dados (.jsonl) por conversa, inclusive as arquivadas.",
    export: "Exportar",
    exporting: (done) => `Exportando… ${n(done)} concluídas`,
    exported: (count) =>
      plural(count, {
        one: "# conversa exportada.",
        many: "# de conversas exportadas.",
        other: "# conversas exportadas.",
      }),
    exportedPartly: (count, failed) => `Exportadas: ${n(count)}. Não exportadas: ${n(failed)}.`,
    nothingToExport: "Você não tem conversas para exportar.",
    deleteTitle: "Excluir todas as conversas",
    deleteHint:
      "Exclui todas as suas conversas e arquivos, inclusive as conversas arquivadas. Não é possível desfazer.",
    delete: "Excluir tudo…",
    deleteQuestion: "Excluir todas as conversas?",
    confirmWord: "excluir",
    typeWord: (word) => `Digite “${word}” para confirmar`,
    deleteNow: "Excluir tudo",
    deleting: (done) => `Excluindo… ${n(done)} concluídas`,
    deleted: (count) =>
      plural(count, {
        one: "# conversa excluída.",
        many: "# de conversas excluídas.",
        other: "# conversas excluídas.",
      }),
    deletedPartly: (failed) => `Não excluídas: ${n(failed)}. Tente novamente.`,
    failed: (reason) => `Não funcionou. ${reason}`,
    account: "Conta",
    signOutTitle: "Sair de todos os dispositivos",
    signOutHint: "Encerra sua sessão em todos os navegadores e dispositivos, inclusive neste.",
  },
} satisfies SettingsWords
