/** search-ja.ts: the Japanese strings for the command palette, search and keyboard shortcuts. */

import { formatCount as n } from "../../format/number-format.ts"
import type { SearchWords } from "../words.ts"

export default {
  search: {
    palette: "会話とコマンドの検索",
    placeholder: "会話、メッセージ、コマンドを検索",
    results: "検索結果",
    sections: { recent: "最近の会話", sessions: "会話", commands: "コマンド", messages: "メッセージ" },
    searching: "検索中…",
    nothing: "見つかりませんでした。",
    count: (count) => `検索結果 ${n(count)} 件`,
    indexing: "以前の会話の索引を作成しています。",
    failed: (reason) => `検索できませんでした：${reason}`,
    more: "検索結果をさらに表示",
    retry: "再試行",
    find: "この会話内を検索",
    older: "前の一致",
    newer: "次の一致",
    position: (index, count) => `${index} / ${count}`,
    shortcuts: "キーボードショートカット",
    or: "または",
    singleKeys: "単一キーのショートカットを使用",
    commands: {
      newConversation: "新しい会話",
      openPalette: "検索とコマンド",
      findInConversation: "この会話内を検索",
      focusList: "会話の一覧へ移動",
      toggleSidebar: "サイドバーの表示を切り替える",
      previousConversation: "前の会話",
      nextConversation: "次の会話",
      previousMessage: "前のメッセージ",
      nextMessage: "次のメッセージ",
      focusComposer: "メッセージ入力欄へ移動",
      attachFile: "ファイルを添付",
      exportMarkdown: "Markdown でエクスポート",
      exportJsonl: "レコード（JSONL）でエクスポート",
      openSettings: "設定",
      changeTheme: "テーマを変更",
      showShortcuts: "キーボードショートカット",
    },
    otherKeys: {
      send: "メッセージを送信",
      newLine: "改行",
      stop: "回答を停止、または開いているものを閉じる",
    },
  },
} satisfies SearchWords
