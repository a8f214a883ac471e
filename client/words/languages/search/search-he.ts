/** search-he.ts: the Hebrew strings for the command palette, search and keyboard shortcuts. */

import { formatPlural } from "../../format/plural.ts"
import type { SearchWords } from "../words.ts"

const plural = formatPlural<"he">

export default {
  search: {
    palette: "חיפוש בשיחות ובפקודות",
    placeholder: "חיפוש שיחות, הודעות ופקודות",
    results: "תוצאות",
    sections: {
      recent: "שיחות אחרונות",
      sessions: "שיחות",
      commands: "פקודות",
      messages: "הודעות",
    },
    searching: "מתבצע חיפוש…",
    nothing: "לא נמצאו תוצאות.",
    count: (count) => plural(count, { one: "תוצאה אחת", two: "שתי תוצאות", other: "# תוצאות" }),
    indexing: "שיחות ישנות יותר עדיין מאונדקסות.",
    failed: (reason) => `החיפוש נכשל: ${reason}`,
    more: "תוצאות נוספות",
    retry: "ניסיון נוסף",
    find: "חיפוש בשיחה הזו",
    older: "תוצאה ישנה יותר",
    newer: "תוצאה חדשה יותר",
    position: (index, count) => `${index} מתוך ${count}`,
    shortcuts: "קיצורי מקלדת",
    or: "או",
    singleKeys: "שימוש בקיצורים של מקש אחד",
    commands: {
      newConversation: "שיחה חדשה",
      openPalette: "חיפוש ופקודות",
      findInConversation: "חיפוש בשיחה הזו",
      focusList: "מעבר לרשימת השיחות",
      toggleSidebar: "הסתרה או הצגה של סרגל הצד",
      previousConversation: "השיחה הקודמת",
      nextConversation: "השיחה הבאה",
      previousMessage: "ההודעה הקודמת",
      nextMessage: "ההודעה הבאה",
      focusComposer: "מעבר לתיבת ההודעה",
      attachFile: "צירוף קובץ",
      exportMarkdown: "ייצוא כ-Markdown",
      exportJsonl: "ייצוא כרשומות (JSONL)",
      openSettings: "הגדרות",
      changeTheme: "החלפת ערכת נושא",
      showShortcuts: "קיצורי מקלדת",
    },
    otherKeys: {
      send: "שליחת ההודעה",
      newLine: "שורה חדשה",
      stop: "עצירת התשובה, או סגירה של מה שפתוח",
    },
  },
} satisfies SearchWords
