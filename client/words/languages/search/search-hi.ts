/** search-hi.ts: the Hindi strings for the command palette, search and keyboard shortcuts. */

import { formatPlural } from "../../format/plural.ts"
import type { SearchWords } from "../words.ts"

const plural = formatPlural<"hi">

export default {
  search: {
    palette: "बातचीत और कमांड खोजें",
    placeholder: "बातचीत, संदेश और कमांड खोजें",
    results: "नतीजे",
    sections: { recent: "हाल की बातचीत", sessions: "बातचीत", commands: "कमांड", messages: "संदेश" },
    searching: "खोजा जा रहा है…",
    nothing: "कुछ नहीं मिला।",
    count: (count) => plural(count, { one: "# नतीजा", other: "# नतीजे" }),
    indexing: "पुरानी बातचीत अभी इंडेक्स की जा रही हैं।",
    failed: (reason) => `खोज विफल हुई: ${reason}`,
    more: "और नतीजे",
    retry: "फिर से कोशिश करें",
    find: "इस बातचीत में खोजें",
    older: "पुराना नतीजा",
    newer: "नया नतीजा",
    position: (index, count) => `${count} में से ${index}`,
    shortcuts: "कीबोर्ड शॉर्टकट",
    or: "या",
    singleKeys: "एक बटन वाले शॉर्टकट इस्तेमाल करें",
    commands: {
      newConversation: "नई बातचीत",
      openPalette: "खोज और कमांड",
      findInConversation: "इस बातचीत में खोजें",
      focusList: "बातचीत की सूची पर जाएँ",
      toggleSidebar: "साइडबार छिपाएँ या दिखाएँ",
      previousConversation: "पिछली बातचीत",
      nextConversation: "अगली बातचीत",
      previousMessage: "पिछला संदेश",
      nextMessage: "अगला संदेश",
      focusComposer: "संदेश बॉक्स पर जाएँ",
      attachFile: "फ़ाइल अटैच करें",
      exportMarkdown: "Markdown के रूप में एक्सपोर्ट करें",
      exportJsonl: "रिकॉर्ड (JSONL) के रूप में एक्सपोर्ट करें",
      openSettings: "सेटिंग",
      changeTheme: "थीम बदलें",
      showShortcuts: "कीबोर्ड शॉर्टकट",
    },
    otherKeys: {
      send: "संदेश भेजें",
      newLine: "नई लाइन",
      stop: "जवाब रोकें या खुली हुई चीज़ बंद करें",
    },
  },
} satisfies SearchWords
