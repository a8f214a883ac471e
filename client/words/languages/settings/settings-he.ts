/** settings-he.ts: the Hebrew strings for the settings page and charts, and the labels of tools. */

import { formatCount as n } from "../../format/number-format.ts"
import { formatPlural } from "../../format/plural.ts"
import type { SettingsWords } from "../words.ts"

const plural = formatPlural<"he">

export default {
  toolName: {
    weather: "מזג אוויר",
    chart: "תרשים",
    image_generate: "תמונה",
    speak: "הודעה קולית",
    canvas_create: "מסמך",
    search: "חיפוש",
    fetch_page: "קריאת דף",
    calculate: "חישוב",
    timer: "טיימר",
    list: "רשימה",
    rename_conversation: "שינוי שם השיחה",
  },
  chart: {
    chartOf: (title) => `תרשים: ${title}`,
    showTable: "הצגה כטבלה",
    label: "שם",
    value: "ערך",
    moveAlong: "נקודות הקו. השתמשו במקשי החצים כדי לקרוא אותן.",
  },
  settings: {
    settings: "הגדרות",
    back: "חזרה לשיחה",
    general: "כללי",
    language: "שפה",
    theme: "ערכת נושא",
    themes: { system: "מערכת", dark: "כהה", light: "בהירה" },
    units: "טמפרטורה",
    celsius: "צלזיוס (°C)",
    fahrenheit: "פרנהייט (°F)",
    data: "הנתונים שלך",
    exportTitle: "ייצוא כל השיחות",
    exportHint: "שומר קובץ ZIP עם קובץ נתונים (‎.jsonl) לכל שיחה, כולל שיחות בארכיון.",
    export: "ייצוא",
    exporting: (done) => `מייצא… ${n(done)} הושלמו`,
    exported: (count) => plural(count, { one: "שיחה אחת יוצאה.", two: "שתי שיחות יוצאו.", other: "# שיחות יוצאו." }),
    exportedPartly: (count, failed) => `${n(count)} יוצאו. לא ניתן היה לייצא ${n(failed)}.`,
    nothingToExport: "אין לך שיחות לייצוא.",
    deleteTitle: "מחיקת כל השיחות",
    deleteHint: "מוחק את כל השיחות והקבצים שלך, כולל שיחות בארכיון. לא ניתן לבטל פעולה זו.",
    delete: "מחיקת הכול…",
    deleteQuestion: "למחוק את כל השיחות?",
    confirmWord: "מחיקה",
    typeWord: (word) => `יש להקליד „${word}” לאישור`,
    deleteNow: "מחיקת הכול",
    deleting: (done) => `מוחק… ${n(done)} הושלמו`,
    deleted: (count) => plural(count, { one: "שיחה אחת נמחקה.", two: "שתי שיחות נמחקו.", other: "# שיחות נמחקו." }),
    deletedPartly: (failed) => `לא ניתן היה למחוק ${n(failed)}. יש לנסות שוב.`,
    failed: (reason) => `הפעולה לא הצליחה. ${reason}`,
    account: "חשבון",
    signOutTitle: "התנתקות מכל המכשירים",
    signOutHint: "מסיים את ההתחברויות שלך בכל הדפדפנים ובכל המכשירים, כולל זה.",
  },
} satisfies SettingsWords
