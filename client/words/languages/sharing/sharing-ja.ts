/** sharing-ja.ts: the texts for sharing by link in Japanese. */

import type { SharingWords } from "../words.ts"

export default {
  sharedView: {
    untitled: "共有された会話",
    by: (author, day) => `${day}に ${author} さんが共有`,
    on: (day) => `${day}に共有`,
    note: "これはコピーです。会話が続いても変わりません。",
    more: "メッセージをさらに表示",
    loading: "読み込み中…",
    gone: "この会話は利用できません",
    goneHint: "リンクが期限切れか削除されたか、アドレスの一部が欠けている可能性があります。",
    failed: "会話を読み込めませんでした。",
    retry: "再試行",
  },
  shareLink: {
    heading: "公開リンク",
    lead: "リンクを知っている人は誰でも、現時点のこの会話のコピーを、ファイル、思考、ツール呼び出しも含めて閲覧できます。以降のメッセージは追加されません。",
    leadUpTo:
      "リンクを知っている人は誰でも、選択したメッセージまでのこの会話のコピーを、ファイル、思考、ツール呼び出しも含めて閲覧できます。",
    expires: "有効期限",
    never: "なし",
    inDay: "1 日後",
    inWeek: "7 日後",
    inMonth: "30 日後",
    name: "自分の名前を表示",
    create: "リンクをコピー",
    creating: "リンクを作成中…",
    copied: "リンクをコピーしました",
    created: "リンクを作成しました。",
    address: "リンクのアドレス",
    links: "リンク",
    madeOn: (day) => `${day}に作成`,
    until: (day) => `${day}まで有効`,
    withName: "名前を表示",
    delete: "削除",
    deleteLink: (day) => `${day}に作成したリンクを削除`,
    deleted: "リンクを削除しました。今後は使用できません。",
    shareUpTo: "ここまでを共有",
    all: "すべての共有リンク",
    none: "共有したリンクはありません。",
  },
} satisfies SharingWords
