/** settings-ja.ts: the texts of the settings page and of charts, and the labels of tools, in Japanese. */

import { formatCount as n } from "../../format/number-format.ts"
import type { SettingsWords } from "../words.ts"

export default {
  toolName: {
    weather: "天気",
    chart: "グラフ",
    image_generate: "画像",
    speak: "ボイスメッセージ",
    canvas_create: "ドキュメント",
    search: "検索",
    rename_conversation: "会話の名前の変更",
  },
  chart: {
    chartOf: (title) => `グラフ：${title}`,
    showTable: "表で表示",
    label: "名前",
    value: "値",
    moveAlong: "線上の点です。矢印キーで読み取れます。",
  },
  settings: {
    settings: "設定",
    back: "チャットに戻る",
    general: "一般",
    language: "言語",
    theme: "テーマ",
    themes: { system: "システム", dark: "ダーク", light: "ライト" },
    units: "気温",
    celsius: "摂氏（°C）",
    fahrenheit: "華氏（°F）",
    data: "データ",
    exportTitle: "すべての会話をエクスポート",
    exportHint: "アーカイブ済みを含む会話ごとのデータファイル（.jsonl）を ZIP ファイルに保存します。",
    export: "エクスポート",
    exporting: (done) => `エクスポート中… ${n(done)} 件完了`,
    exported: (count) => `${n(count)} 件の会話をエクスポートしました。`,
    exportedPartly: (count, failed) =>
      `${n(count)} 件をエクスポートしました。${n(failed)} 件はエクスポートできませんでした。`,
    nothingToExport: "エクスポートする会話がありません。",
    deleteTitle: "すべての会話を削除",
    deleteHint: "アーカイブ済みを含む、すべての会話とファイルを削除します。この操作は取り消せません。",
    delete: "すべて削除…",
    deleteQuestion: "すべての会話を削除しますか？",
    confirmWord: "削除",
    typeWord: (word) => `確認のため「${word}」と入力してください`,
    deleteNow: "すべて削除",
    deleting: (done) => `削除中… ${n(done)} 件完了`,
    deleted: (count) => `${n(count)} 件の会話を削除しました。`,
    deletedPartly: (failed) => `${n(failed)} 件を削除できませんでした。もう一度お試しください。`,
    failed: (reason) => `うまくいきませんでした。${reason}`,
    account: "アカウント",
    signOutTitle: "すべてのデバイスからログアウト",
    signOutHint: "この端末を含む、すべてのブラウザとデバイスからログアウトします。",
  },
} satisfies SettingsWords
