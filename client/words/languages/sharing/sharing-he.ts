/** sharing-he.ts: the texts for sharing by link in Hebrew. */

import type { SharingWords } from "../words.ts"

export default {
  sharedView: {
    untitled: "שיחה משותפת",
    by: (author, day) => `שותפה על ידי \u2068${author}\u2069 ב־${day}`,
    on: (day) => `שותפה ב־${day}`,
    note: "זהו עותק. הוא לא משתנה כשהשיחה נמשכת.",
    more: "הצגת הודעות נוספות",
    loading: "בטעינה…",
    gone: "השיחה הזו אינה זמינה",
    goneHint: "ייתכן שתוקף הקישור פג, שהקישור נמחק או שחסר חלק מהכתובת.",
    failed: "לא ניתן היה לטעון את השיחה.",
    retry: "ניסיון חוזר",
  },
  shareLink: {
    heading: "קישור לכולם",
    lead: "כל מי שמחזיק בקישור יכול לקרוא עותק של השיחה כפי שהיא עכשיו, כולל הקבצים, החשיבה והקריאות לכלים. הודעות מאוחרות יותר לא מתווספות.",
    leadUpTo: "כל מי שמחזיק בקישור יכול לקרוא עותק של השיחה עד להודעה שנבחרה, כולל הקבצים, החשיבה והקריאות לכלים.",
    expires: "תפוגה",
    never: "לעולם לא",
    inDay: "בעוד יום",
    inWeek: "בעוד 7 ימים",
    inMonth: "בעוד 30 ימים",
    name: "הצגת השם שלי",
    create: "העתקת הקישור",
    creating: "הקישור נוצר…",
    copied: "הקישור הועתק",
    created: "הקישור נוצר.",
    address: "כתובת הקישור",
    links: "קישורים",
    madeOn: (day) => `נוצר ב־${day}`,
    until: (day) => `יפוג ב־${day}`,
    withName: "עם השם שלך",
    delete: "מחיקה",
    deleteLink: (day) => `מחיקת הקישור שנוצר ב־${day}`,
    deleted: "הקישור נמחק ואינו פעיל עוד.",
    shareUpTo: "שיתוף עד כאן",
    all: "כל הקישורים המשותפים",
    none: "לא שיתפת קישורים.",
  },
} satisfies SharingWords
