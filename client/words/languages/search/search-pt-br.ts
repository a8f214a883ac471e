/** search-pt-br.ts: the Brazilian Portuguese strings for the command palette, search and keyboard shortcuts. */

import { formatPlural } from "../../format/plural.ts"
import type { SearchWords } from "../words.ts"

const plural = formatPlural<"pt-BR">

export default {
  search: {
    palette: "Pesquisar conversas e comandos",
    placeholder: "Pesquisar conversas, mensagens e comandos",
    results: "Resultados",
    sections: {
      recent: "Conversas recentes",
      sessions: "Conversas",
      commands: "Comandos",
      messages: "Mensagens",
    },
    searching: "Pesquisando…",
    nothing: "Nada encontrado.",
    count: (count) => plural(count, { one: "# resultado", many: "# de resultados", other: "# resultados" }),
    indexing: "As conversas mais antigas ainda estão sendo indexadas.",
    failed: (reason) => `A pesquisa falhou: ${reason}`,
    more: "Mais resultados",
    retry: "Tentar novamente",
    find: "Pesquisar nesta conversa",
    older: "Resultado mais antigo",
    newer: "Resultado mais recente",
    position: (index, count) => `${index} de ${count}`,
    shortcuts: "Atalhos do teclado",
    or: "ou",
    singleKeys: "Usar atalhos de uma só tecla",
    commands: {
      newConversation: "Nova conversa",
      openPalette: "Pesquisa e comandos",
      findInConversation: "Pesquisar nesta conversa",
      focusList: "Ir para a lista de conversas",
      toggleSidebar: "Ocultar ou mostrar a barra lateral",
      previousConversation: "Conversa anterior",
      nextConversation: "Próxima conversa",
      previousMessage: "Mensagem anterior",
      nextMessage: "Próxima mensagem",
      focusComposer: "Ir para a caixa de mensagem",
      attachFile: "Anexar um arquivo",
      exportMarkdown: "Exportar como Markdown",
      exportJsonl: "Exportar como registros (JSONL)",
      openSettings: "Configurações",
      changeTheme: "Mudar tema",
      showShortcuts: "Atalhos do teclado",
    },
    otherKeys: {
      send: "Enviar a mensagem",
      newLine: "Nova linha",
      stop: "Parar a resposta ou fechar o que está aberto",
    },
  },
} satisfies SearchWords
