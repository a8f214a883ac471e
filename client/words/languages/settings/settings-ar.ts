/** settings-ar.ts: the Arabic strings for the settings page and charts, and the labels of tools. */

import { formatCount as n } from "../../format/number-format.ts"
import { formatPlural } from "../../format/plural.ts"
import type { SettingsWords } from "../words.ts"

const plural = formatPlural<"ar">

export default {
  toolName: {
    weather: "الطقس",
    chart: "مخطط",
    image_generate: "صورة",
    speak: "رسالة صوتية",
    canvas_create: "مستند",
    search: "بحث",
    fetch_page: "قراءة صفحة",
    calculate: "حساب",
    timer: "مؤقّت",
    list: "قائمة",
    rename_conversation: "إعادة تسمية المحادثة",
  },
  chart: {
    chartOf: (title) => `مخطط: ${title}`,
    showTable: "عرض كجدول",
    label: "الاسم",
    value: "القيمة",
    moveAlong: "نقاط الخط. استخدم مفاتيح الأسهم لقراءتها.",
  },
  settings: {
    settings: "الإعدادات",
    back: "العودة إلى المحادثة",
    general: "عام",
    language: "اللغة",
    theme: "المظهر",
    themes: { system: "النظام", dark: "داكن", light: "فاتح" },
    units: "درجة الحرارة",
    celsius: "مئوية (°C)",
    fahrenheit: "فهرنهايت (°F)",
    data: "بياناتك",
    exportTitle: "تصدير كل المحادثات",
    exportHint: "يحفظ ملف ZIP يضم ملف بيانات (.jsonl) لكل محادثة، بما فيها المؤرشفة.",
    export: "تصدير",
    exporting: (done) => `جارٍ التصدير… اكتمل ${n(done)}`,
    exported: (count) =>
      plural(count, {
        zero: "لم تُصدَّر أي محادثة.",
        one: "صُدِّرت محادثة واحدة.",
        two: "صُدِّرت محادثتان.",
        few: "صُدِّرت # محادثات.",
        many: "صُدِّرت # محادثة.",
        other: "صُدِّرت # محادثة.",
      }),
    exportedPartly: (count, failed) => `تم تصدير ${n(count)}. تعذّر تصدير ${n(failed)}.`,
    nothingToExport: "ليست لديك محادثات لتصديرها.",
    deleteTitle: "حذف كل المحادثات",
    deleteHint: "يحذف كل محادثاتك وملفاتك، بما فيها المؤرشفة. لا يمكن التراجع عن ذلك.",
    delete: "حذف الكل…",
    deleteQuestion: "هل تريد حذف كل المحادثات؟",
    confirmWord: "حذف",
    typeWord: (word) => `اكتب «${word}» للتأكيد`,
    deleteNow: "حذف كل شيء",
    deleting: (done) => `جارٍ الحذف… اكتمل ${n(done)}`,
    deleted: (count) =>
      plural(count, {
        zero: "لم تُحذف أي محادثة.",
        one: "حُذفت محادثة واحدة.",
        two: "حُذفت محادثتان.",
        few: "حُذفت # محادثات.",
        many: "حُذفت # محادثة.",
        other: "حُذفت # محادثة.",
      }),
    deletedPartly: (failed) => `تعذّر حذف ${n(failed)}. حاول مرة أخرى.`,
    failed: (reason) => `لم ينجح ذلك. ${reason}`,
    account: "الحساب",
    signOutTitle: "تسجيل الخروج من كل الأجهزة",
    signOutHint: "ينهي تسجيلات دخولك في كل المتصفحات وعلى كل الأجهزة، بما فيها هذا الجهاز.",
  },
} satisfies SettingsWords
