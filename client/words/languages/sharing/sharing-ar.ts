/** sharing-ar.ts: the texts for sharing by link in Arabic. */

import type { SharingWords } from "../words.ts"

export default {
  sharedView: {
    documentTitle: (title) => `${title} · Cuecard`,
    untitled: "محادثة مُشارَكة",
    by: (author, day) => `شاركها \u2068${author}\u2069 في ${day}`,
    on: (day) => `تمت المشاركة في ${day}`,
    note: "هذه نسخة، ولا تتغير عندما تستمر المحادثة.",
    more: "عرض المزيد من الرسائل",
    loading: "جارٍ التحميل…",
    gone: "هذه المحادثة غير متاحة",
    goneHint: "ربما انتهت صلاحية الرابط أو حُذف، أو أن جزءًا من العنوان ناقص.",
    failed: "تعذر تحميل المحادثة.",
    retry: "إعادة المحاولة",
  },
  shareLink: {
    heading: "رابط للجميع",
    lead: "يمكن لأي شخص لديه الرابط قراءة نسخة من هذه المحادثة كما هي الآن، مع ملفاتها والتفكير واستدعاءات الأدوات. لا تُضاف الرسائل اللاحقة.",
    leadUpTo:
      "يمكن لأي شخص لديه الرابط قراءة نسخة من هذه المحادثة حتى الرسالة المحددة، مع ملفاتها والتفكير واستدعاءات الأدوات.",
    expires: "انتهاء الصلاحية",
    never: "أبدًا",
    inDay: "بعد يوم واحد",
    inWeek: "بعد 7 أيام",
    inMonth: "بعد 30 يومًا",
    name: "إظهار اسمي",
    create: "نسخ الرابط",
    creating: "جارٍ إنشاء الرابط…",
    copied: "تم نسخ الرابط",
    created: "تم إنشاء الرابط.",
    address: "عنوان الرابط",
    links: "الروابط",
    madeOn: (day) => `أُنشئ في ${day}`,
    until: (day) => `تنتهي صلاحيته في ${day}`,
    withName: "مع اسمك",
    delete: "حذف",
    deleteLink: (day) => `حذف الرابط المُنشأ في ${day}`,
    deleted: "تم حذف الرابط، ولم يعد يعمل.",
    shareUpTo: "المشاركة حتى هنا",
    all: "كل الروابط المُشارَكة",
    none: "لم تشارك أي روابط.",
  },
} satisfies SharingWords
