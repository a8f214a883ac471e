/** settings-zh-hans.ts: the texts of the settings page and of charts, and the labels of tools, in Simplified Chinese. */

import { formatCount as n } from "../../format/number-format.ts"
import type { SettingsWords } from "../words.ts"

export default {
  toolName: {
    weather: "天气",
    chart: "图表",
    image_generate: "图片",
    speak: "语音",
    canvas_create: "文档",
    rename_conversation: "重命名对话",
  },
  chart: {
    chartOf: (title) => `图表：${title}`,
    showTable: "以表格显示",
    label: "名称",
    value: "数值",
    moveAlong: "折线上的点。使用方向键读取。",
  },
  settings: {
    settings: "设置",
    back: "返回对话",
    general: "通用",
    language: "语言",
    theme: "主题",
    units: "温度",
    celsius: "摄氏度 (°C)",
    fahrenheit: "华氏度 (°F)",
    data: "您的数据",
    exportTitle: "导出所有对话",
    exportHint: "保存一个 ZIP 文件，其中每个对话对应一个数据文件 (.jsonl)，包括已归档的对话。",
    export: "导出",
    exporting: (done) => `正在导出… 已完成 ${n(done)} 个`,
    exported: (count) => `已导出 ${n(count)} 个对话。`,
    exportedPartly: (count, failed) => `已导出 ${n(count)} 个，${n(failed)} 个无法导出。`,
    nothingToExport: "您没有可导出的对话。",
    deleteTitle: "删除所有对话",
    deleteHint: "删除您的所有对话和文件，包括已归档的对话。此操作无法撤销。",
    delete: "全部删除…",
    deleteQuestion: "要删除所有对话吗？",
    confirmWord: "删除",
    typeWord: (word) => `请输入“${word}”以确认`,
    deleteNow: "全部删除",
    deleting: (done) => `正在删除… 已完成 ${n(done)} 个`,
    deleted: (count) => `已删除 ${n(count)} 个对话。`,
    deletedPartly: (failed) => `${n(failed)} 个无法删除，请重试。`,
    failed: (reason) => `操作失败。${reason}`,
    account: "账号",
    signOutTitle: "在所有设备上退出登录",
    signOutHint: "结束您在所有浏览器和设备上的登录，包括此设备。",
  },
} satisfies SettingsWords
