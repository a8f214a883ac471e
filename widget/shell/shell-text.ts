/**
 * shell-text.ts: the strings of the button and the panel, which are shown before the conversation's strings have been
 * loaded.
 */

import type { Language } from "../../client/words/languages/language.ts"

interface ShellText {
  readonly open: string
  readonly close: string
  /** The name of the panel, and of the frame. */
  readonly name: string
}

const TEXTS: Readonly<Record<Language, ShellText>> = {
  en: { open: "Open chat", close: "Close chat", name: "Chat" },
  de: { open: "Chat öffnen", close: "Chat schließen", name: "Chat" },
  fr: { open: "Ouvrir la discussion", close: "Fermer la discussion", name: "Discussion" },
  es: { open: "Abrir el chat", close: "Cerrar el chat", name: "Chat" },
  "pt-BR": { open: "Abrir o chat", close: "Fechar o chat", name: "Chat" },
  ja: { open: "チャットを開く", close: "チャットを閉じる", name: "チャット" },
  "zh-Hans": { open: "打开聊天", close: "关闭聊天", name: "聊天" },
  hi: { open: "चैट खोलें", close: "चैट बंद करें", name: "चैट" },
  ar: { open: "فتح الدردشة", close: "إغلاق الدردشة", name: "الدردشة" },
  he: { open: "פתיחת הצ'אט", close: "סגירת הצ'אט", name: "צ'אט" },
}

/**
 * Returns the strings in the first of these languages in which they exist, or in English, and the direction in which
 * the language is written.
 */
export function chooseShellText(tags: readonly string[]): ShellText & { readonly direction: "ltr" | "rtl" } {
  const toBase = (tag: string): string => tag.toLowerCase().split("-")[0] ?? ""
  const known = Object.entries(TEXTS)
  const found = tags.flatMap((tag) => known.filter(([language]) => toBase(language) === toBase(tag)))[0]
  return { ...(found?.[1] ?? TEXTS.en), direction: /^(?:ar|he)/.test(found?.[0] ?? "") ? "rtl" : "ltr" }
}
