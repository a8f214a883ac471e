/** search-ar.ts: the Arabic strings for the command palette, search and keyboard shortcuts. */

import { formatPlural } from "../../format/plural.ts"
import type { SearchWords } from "../words.ts"

const plural = formatPlural<"ar">

export default {
  search: {
    palette: "البحث في المحادثات والأوامر",
    placeholder: "ابحث في المحادثات والرسائل والأوامر",
    results: "النتائج",
    sections: {
      recent: "أحدث المحادثات",
      sessions: "المحادثات",
      commands: "الأوامر",
      messages: "الرسائل",
    },
    searching: "جارٍ البحث…",
    nothing: "لم يُعثر على شيء.",
    count: (count) =>
      plural(count, {
        zero: "لا نتائج",
        one: "نتيجة واحدة",
        two: "نتيجتان",
        few: "# نتائج",
        many: "# نتيجة",
        other: "# نتيجة",
      }),
    indexing: "لا تزال فهرسة المحادثات الأقدم جارية.",
    failed: (reason) => `تعذّر البحث: ${reason}`,
    more: "مزيد من النتائج",
    retry: "إعادة المحاولة",
    find: "البحث في هذه المحادثة",
    older: "نتيجة أقدم",
    newer: "نتيجة أحدث",
    position: (index, count) => `${index} من ${count}`,
    shortcuts: "اختصارات لوحة المفاتيح",
    or: "أو",
    singleKeys: "استخدام اختصارات المفتاح الواحد",
    commands: {
      newConversation: "محادثة جديدة",
      openPalette: "البحث والأوامر",
      findInConversation: "البحث في هذه المحادثة",
      focusList: "الانتقال إلى قائمة المحادثات",
      toggleSidebar: "إخفاء الشريط الجانبي أو إظهاره",
      previousConversation: "المحادثة السابقة",
      nextConversation: "المحادثة التالية",
      previousMessage: "الرسالة السابقة",
      nextMessage: "الرسالة التالية",
      focusComposer: "الانتقال إلى مربع الكتابة",
      attachFile: "إرفاق ملف",
      exportMarkdown: "تصدير بصيغة Markdown",
      exportJsonl: "تصدير السجلات (JSONL)",
      openSettings: "الإعدادات",
      changeTheme: "تغيير المظهر",
      showShortcuts: "اختصارات لوحة المفاتيح",
    },
    otherKeys: {
      send: "إرسال الرسالة",
      newLine: "سطر جديد",
      stop: "إيقاف الرد، أو إغلاق ما هو مفتوح",
    },
  },
} satisfies SearchWords
