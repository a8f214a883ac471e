/** sharing-zh-hans.ts: the texts for sharing by link in Simplified Chinese. */

import type { SharingWords } from "../words.ts"

export default {
  sharedView: {
    untitled: "共享的对话",
    by: (author, day) => `由 ${author} 于${day}共享`,
    on: (day) => `共享于${day}`,
    note: "这是一份副本，不会随对话继续而更改。",
    more: "显示更多消息",
    loading: "正在加载…",
    gone: "此对话不可用",
    goneHint: "链接可能已过期或被删除，或者地址不完整。",
    failed: "无法加载对话。",
    retry: "重试",
  },
  shareLink: {
    heading: "公开链接",
    lead: "任何拥有链接的人都可以阅读此对话当前内容的副本，包括文件、思考过程和工具调用。之后的消息不会加入。",
    leadUpTo: "任何拥有链接的人都可以阅读此对话截至所选消息的副本，包括文件、思考过程和工具调用。",
    expires: "有效期",
    never: "永久",
    inDay: "1 天",
    inWeek: "7 天",
    inMonth: "30 天",
    name: "显示我的姓名",
    create: "复制链接",
    creating: "正在创建链接…",
    copied: "链接已复制",
    created: "链接已创建。",
    address: "链接地址",
    links: "链接",
    madeOn: (day) => `创建于${day}`,
    until: (day) => `${day}到期`,
    withName: "显示您的姓名",
    delete: "删除",
    deleteLink: (day) => `删除${day}创建的链接`,
    deleted: "链接已删除，不再有效。",
    shareUpTo: "共享到此处",
    all: "所有共享链接",
    none: "您还没有共享任何链接。",
  },
} satisfies SharingWords
