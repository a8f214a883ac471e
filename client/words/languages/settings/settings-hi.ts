/** settings-hi.ts: the Hindi strings for the settings page and charts, and the labels of tools. */

import { formatCount as n } from "../../format/number-format.ts"
import { formatPlural } from "../../format/plural.ts"
import type { SettingsWords } from "../words.ts"

const plural = formatPlural<"hi">

export default {
  toolName: {
    weather: "मौसम",
    chart: "चार्ट",
    image_generate: "इमेज",
    speak: "वॉइस नोट",
    canvas_create: "दस्तावेज़",
    search: "खोज",
    fetch_page: "पेज पढ़ना",
    calculate: "गणना",
    timer: "टाइमर",
    list: "सूची",
    rename_conversation: "बातचीत का नाम बदलना",
  },
  chart: {
    chartOf: (title) => `चार्ट: ${title}`,
    showTable: "टेबल के रूप में दिखाएँ",
    label: "नाम",
    value: "मान",
    moveAlong: "लाइन के बिंदु। इन्हें पढ़ने के लिए ऐरो बटन इस्तेमाल करें।",
  },
  settings: {
    settings: "सेटिंग",
    back: "चैट पर वापस जाएँ",
    general: "सामान्य",
    language: "भाषा",
    theme: "थीम",
    themes: { system: "सिस्टम", dark: "गहरी", light: "हल्की" },
    units: "तापमान",
    celsius: "सेल्सियस (°C)",
    fahrenheit: "फ़ारेनहाइट (°F)",
    data: "आपका डेटा",
    exportTitle: "सभी बातचीत एक्सपोर्ट करें",
    exportHint: "हर बातचीत की डेटा फ़ाइल (.jsonl) वाली एक ZIP फ़ाइल सेव करता है, संग्रहित बातचीत भी।",
    export: "एक्सपोर्ट करें",
    exporting: (done) => `एक्सपोर्ट हो रहा है… ${n(done)} पूरी`,
    exported: (count) => plural(count, { one: "# बातचीत एक्सपोर्ट हो गई।", other: "# बातचीत एक्सपोर्ट हो गईं।" }),
    exportedPartly: (count, failed) => `एक्सपोर्ट हुईं: ${n(count)}। एक्सपोर्ट नहीं हो सकीं: ${n(failed)}।`,
    nothingToExport: "एक्सपोर्ट करने के लिए आपकी कोई बातचीत नहीं है।",
    deleteTitle: "सभी बातचीत मिटाएँ",
    deleteHint: "आपकी सभी बातचीत और फ़ाइलें मिटाता है, संग्रहित बातचीत भी। इसे पहले जैसा नहीं किया जा सकता।",
    delete: "सभी मिटाएँ…",
    deleteQuestion: "सभी बातचीत मिटाएँ?",
    confirmWord: "मिटाएँ",
    typeWord: (word) => `पुष्टि के लिए “${word}” लिखें`,
    deleteNow: "सब कुछ मिटाएँ",
    deleting: (done) => `मिटाया जा रहा है… ${n(done)} पूरी`,
    deleted: (count) => plural(count, { one: "# बातचीत मिटा दी गई।", other: "# बातचीत मिटा दी गईं।" }),
    deletedPartly: (failed) => `नहीं मिटाई जा सकीं: ${n(failed)}। फिर से कोशिश करें।`,
    failed: (reason) => `यह नहीं हो सका। ${reason}`,
    account: "खाता",
    signOutTitle: "सभी जगह से साइन आउट करें",
    signOutHint: "आपको सभी ब्राउज़र और डिवाइस से साइन आउट करता है, इससे भी।",
  },
} satisfies SettingsWords
