/** search-zh-hans.ts: the Simplified Chinese strings for the command palette, search and keyboard shortcuts. */

import type { SearchWords } from "../words.ts"

export default {
  search: {
    palette: "搜索对话和命令",
    placeholder: "搜索对话、消息和命令",
    results: "结果",
    sections: {
      recent: "最近的对话",
      sessions: "对话",
      commands: "命令",
      messages: "消息",
    },
    searching: "正在搜索…",
    nothing: "没有找到结果。",
    count: (count) => `${count} 条结果`,
    indexing: "较早的对话仍在建立索引。",
    failed: (reason) => `搜索失败：${reason}`,
    more: "更多结果",
    retry: "重试",
    find: "在此对话中搜索",
    older: "较早的匹配",
    newer: "较新的匹配",
    position: (index, count) => `第 ${index} 条，共 ${count} 条`,
    shortcuts: "键盘快捷键",
    or: "或",
    singleKeys: "使用单键快捷键",
    commands: {
      newConversation: "新对话",
      openPalette: "搜索和命令",
      findInConversation: "在此对话中搜索",
      focusList: "转到对话列表",
      toggleSidebar: "隐藏或显示侧边栏",
      previousConversation: "上一个对话",
      nextConversation: "下一个对话",
      previousMessage: "上一条消息",
      nextMessage: "下一条消息",
      focusComposer: "转到输入框",
      attachFile: "添加文件",
      exportMarkdown: "导出为 Markdown",
      exportJsonl: "导出为记录 (JSONL)",
      openSettings: "设置",
      changeTheme: "切换主题",
      showShortcuts: "键盘快捷键",
    },
    otherKeys: {
      send: "发送消息",
      newLine: "换行",
      stop: "停止回答，或关闭已打开的内容",
    },
  },
} satisfies SearchWords
