/** sharing-pt-br.ts: the texts for sharing by link in Brazilian Portuguese. */

import type { SharingWords } from "../words.ts"

export default {
  sharedView: {
    untitled: "Conversa compartilhada",
    by: (author, day) => `Compartilhada por ${author} em ${day}`,
    on: (day) => `Compartilhada em ${day}`,
    note: "Esta é uma cópia. Ela não muda quando a conversa continua.",
    more: "Mostrar mais mensagens",
    loading: "Carregando…",
    gone: "Esta conversa não está disponível",
    goneHint: "O link pode ter expirado ou sido excluído, ou parte do endereço pode estar faltando.",
    failed: "Não foi possível carregar a conversa.",
    retry: "Tentar novamente",
  },
  shareLink: {
    heading: "Link para todos",
    lead: "Qualquer pessoa com o link pode ler uma cópia desta conversa como ela está agora, com arquivos, raciocínios e chamadas de ferramentas. As mensagens posteriores não são adicionadas.",
    leadUpTo:
      "Qualquer pessoa com o link pode ler uma cópia desta conversa até a mensagem selecionada, com arquivos, raciocínios e chamadas de ferramentas.",
    expires: "Expira",
    never: "Nunca",
    inDay: "Em 1 dia",
    inWeek: "Em 7 dias",
    inMonth: "Em 30 dias",
    name: "Mostrar meu nome",
    create: "Copiar link",
    creating: "Criando link…",
    copied: "Link copiado",
    created: "O link foi criado.",
    address: "Endereço do link",
    links: "Links",
    madeOn: (day) => `Criado em ${day}`,
    until: (day) => `expira em ${day}`,
    withName: "com seu nome",
    delete: "Excluir",
    deleteLink: (day) => `Excluir o link criado em ${day}`,
    deleted: "O link foi excluído. Ele não funciona mais.",
    shareUpTo: "Compartilhar até aqui",
    all: "Todos os links compartilhados",
    none: "Você não compartilhou nenhum link.",
  },
} satisfies SharingWords
