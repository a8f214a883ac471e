/** languages.test.tsx: choosing the language, formatting values, and the strings in each language. */

import { render } from "preact"
import { afterEach, describe, expect, test } from "vitest"
import { RequestError, describeError } from "../../client/net/http-request.ts"
import { describeEndReason } from "../../client/words/format/end-reason.ts"
import { formatCount } from "../../client/words/format/number-format.ts"
import { formatDate } from "../../client/words/format/date-format.ts"
import { PLURAL_CATEGORIES } from "../../client/words/format/plural.ts"
import {
  chooseLocale,
  findEnglishTexts,
  findTexts,
  formatLocale,
  getDirection,
  LANGUAGES,
  type Language,
  matchLanguage,
} from "../../client/words/languages/language.ts"
import { findPseudoTexts } from "../../client/words/languages/pseudo-language.ts"
import { loadTexts } from "../../client/words/languages/load-language.ts"
import { formatSize } from "../../client/words/format/file-size.ts"
import { appText, welcomeText } from "../../client/words/page-text.ts"
import { rateWaitText } from "../../client/words/rate-wait-text.ts"
import { searchText } from "../../client/words/search/search-text.ts"
import { sharingText } from "../../client/words/sharing-text.ts"
import { until } from "./dom.ts"
import { transcript } from "./render-transcript.tsx"
import { answer, text } from "./sample-messages.ts"

const TRANSLATIONS = LANGUAGES.filter((language) => language !== "en")

/** The text modules of the chat page. */
const MODULES = import.meta.glob<Record<string, unknown>>(
  [
    "../../client/words/{page,transcript,account,answer-menu,attachment-chip,budget,import,rate-wait,session-action,sharing,unsent,writing}-text.ts",
    "../../client/words/{parts,search,settings}/*-text.ts",
    "../../client/words/{share-link,shared-view}-text.ts",
  ],
  { eager: true },
)

/** The functions whose strings don't contain their parameters unchanged. */
const COMPUTED = new Set([
  "action.tooLong",
  "transcript.thought",
  "media.position",
  "budget.exhausted",
  "budget.exhaustedTenant",
  "rateWait.limited",
])

/** Returns all strings with their paths. Each function is called with markers as its parameters. */
function listTexts(): [string, string][] {
  const visit = (value: unknown, path: string): [string, string][] => {
    if (typeof value === "string") return [[path, value]]
    if (path.startsWith("import.kinds")) return []
    if (typeof value === "function")
      return COMPUTED.has(path) ? [] : [[path, String(value(...listMarkers(value.length, path)))]]
    return Object.keys(Object(value)).flatMap((name) => visit(Reflect.get(Object(value), name), `${path}.${name}`))
  }
  return Object.values(MODULES).flatMap((module) =>
    Object.entries(module).flatMap(([name, value]) =>
      name.endsWith("Text") && name !== "budgetsText" ? visit(value, name.replace(/Text$/, "")) : [],
    ),
  )
}

function listMarkers(count: number, path: string): unknown[] {
  const markers = Array.from({ length: count }, (_, index) => `⟪${index}⟫`)
  return path === "media.downloadFile" ? [markers] : markers
}

function findMarkers(text: string): string[] {
  return [...new Set(text.match(/⟪\d⟫/g))].sort()
}

/** Switches to a language, and waits until all its files are loaded. */
async function showLanguage(language: Language): Promise<void> {
  formatLocale.value = chooseLocale(language, [])
  if (language === "en") {
    findTexts.value = findEnglishTexts
    return
  }
  let loaded = 0
  await loadTexts(language, (texts) => {
    loaded += 1
    findTexts.value = texts
  })
  await until(() => expect(loaded).toBe(2))
}

afterEach(() => showLanguage("en"))

describe("the choice", () => {
  test.each([
    [["de-AT", "en"], "de"],
    [["xx", "de-CH"], "de"],
    [["zh-TW"], "zh-Hans"],
    [["iw"], "he"],
    [["ar-EG", "en"], "ar"],
    [["es-419"], "es"],
    [["hi-IN"], "hi"],
    [["ja-JP"], "ja"],
    [["pt"], "pt-BR"],
    [["pt-PT", "en"], "pt-BR"],
    [["EN-gb", "de"], "en"],
    [["tlh"], "en"],
    [[], "en"],
  ])("[LG2] %j is shown in %s", (tags, language) => {
    expect(matchLanguage(tags)).toBe(language)
  })

  test("[LG2] the files of a language are loaded one after the other, and the page is drawn again", async () => {
    const root = document.body.appendChild(document.createElement("div"))
    const Heading = () => <h2>{appText.conversations}</h2>
    render(<Heading />, root)
    expect(root.textContent).toBe("Conversations")
    await showLanguage("de")
    await until(() => expect(root.textContent).toBe("Unterhaltungen"))
    expect(sharingText.add).toBe("Hinzufügen")
    render(null, root)
  })

  test("[LG2] a button that is drawn after a change of language has its text in the new language", () => {
    findTexts.value = findPseudoTexts
    const { root } = transcript([answer("a", { segments: [text("hello")] })])
    const labels = [...root.querySelectorAll(".acts > button")].map((button) => button.getAttribute("aria-label"))
    expect(labels).toEqual(["⟦Copy⟧", "⟦Reply⟧", "⟦Regenerate⟧"])
  })

  test("[LG3] the page has the direction of its language", () => {
    expect(["ar-EG", "he", "de", "ja", "hi-u-nu-latn"].map(getDirection)).toEqual(["rtl", "rtl", "ltr", "ltr", "ltr"])
  })
})

describe("formats", () => {
  test("[LG5] numbers, dates and lists follow the language and the reader's region, but always use the digits 0 to 9", () => {
    formatLocale.value = chooseLocale("de", ["en-US", "de-CH"])
    expect(formatCount(12_345.5)).toMatch(/^12.345\.5$/)
    formatLocale.value = chooseLocale("de", ["en-US"])
    expect(formatCount(12_345.5)).toBe("12.345,5")
    expect(formatDate("2026-05-12", { day: "numeric", month: "long", timeZone: "UTC" })).toBe("12. Mai")
    expect(formatSize(1_300_000)).toBe("1,2 MB")
    formatLocale.value = chooseLocale("ar", ["ar-EG"])
    expect(formatCount(12_345)).toBe("12,345")
    formatLocale.value = chooseLocale("en", ["en-GB"])
    expect(formatDate("2026-05-12", { day: "numeric", month: "short", timeZone: "UTC" })).toBe("12 May")
  })

  test("[PF10] a formatter is created once for each language and set of options", () => {
    const { DateTimeFormat } = Intl
    let count = 0
    Intl.DateTimeFormat = class extends DateTimeFormat {
      constructor(...options: ConstructorParameters<typeof DateTimeFormat>) {
        super(...options)
        count++
      }
    } as unknown as typeof DateTimeFormat
    try {
      const format = (day: number) => formatDate(day * 86_400_000, { day: "numeric", month: "short", timeZone: "UTC" })
      formatLocale.value = "en-GB"
      expect([0, 1, 2].map(format)).toEqual(["1 Jan", "2 Jan", "3 Jan"])
      expect(count).toBe(1)
      formatLocale.value = "de"
      expect(format(0)).toBe("1. Jan.")
      expect(count).toBe(2)
      expect(formatDate("no date", { day: "numeric" })).toBe("Invalid Date")
    } finally {
      Intl.DateTimeFormat = DateTimeFormat
    }
  })

  test("[LG5] a malformed language tag from the browser doesn't break formatting", () => {
    expect(chooseLocale("de", ["de-_!"])).toBe("de")
  })
})

describe("plurals", () => {
  test("[LG10] each language has a form for every category of its plural rules", () => {
    for (const language of LANGUAGES) {
      const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
      expect([...PLURAL_CATEGORIES[language]].sort(), language).toEqual([...pluralCategories].sort())
    }
  })

  test.each<[Language, string[]]>([
    ["en", ["0 results", "1 result", "2 results", "3 results", "11 results", "1,000,000 results"]],
    ["de", ["0 Ergebnisse", "1 Ergebnis", "2 Ergebnisse", "3 Ergebnisse", "11 Ergebnisse", "1.000.000 Ergebnisse"]],
    ["fr", ["0 résultat", "1 résultat", "2 résultats", "3 résultats", "11 résultats", "1 000 000 de résultats"]],
    ["ar", ["لا نتائج", "نتيجة واحدة", "نتيجتان", "3 نتائج", "11 نتيجة", "1,000,000 نتيجة"]],
    ["he", ["0 תוצאות", "תוצאה אחת", "שתי תוצאות", "3 תוצאות", "11 תוצאות", "1,000,000 תוצאות"]],
  ])("[LG10] %s has a form for each count", async (language, texts) => {
    await showLanguage(language)
    const counted = [0, 1, 2, 3, 11, 1_000_000].map((count) => searchText.count(count).replace(/[\u202f\u00a0]/g, " "))
    expect(counted).toEqual(texts)
  })

  test("[LG10] no string of a language chooses a form by comparing the count with 1 or 2", () => {
    const sources = import.meta.glob<string>("../../client/words/languages/*/*.ts", {
      eager: true,
      query: "?raw",
      import: "default",
    })
    expect(Object.keys(sources).length).toBeGreaterThan(40)
    expect(
      Object.entries(sources).flatMap(([name, source]) => (/[=!]== [12]\b|< 2\b/.test(source) ? [name] : [])),
    ).toEqual([])
  })

  test("[LG10] durations and sizes use units in the page's language", async () => {
    expect([1, 1023].map(formatSize)).toEqual(["1 byte", "1023 bytes"])
    expect(rateWaitText.limited(1)).toMatch(/in about 1 second\.$/)
    await showLanguage("de")
    expect(describeError(new RequestError(429, "English.", "rate_limited", { retryAfterSeconds: 1 }))).toMatch(
      / 1 Sekunde\.$/,
    )
  })
})

describe("errors", () => {
  test("[LG4] an error's message is based on its code and fields", async () => {
    const error = new RequestError(413, "Messages can be up to 64 KB.", "message_too_large", { max: 65_536 })
    expect(describeError(error)).toBe("Messages can be up to 64 KB.")
    await showLanguage("de")
    expect(describeError(error)).toMatch(/^Nachrichten können bis zu 64 KB groß sein\./)
    expect(describeEndReason("model_timeout")).toBe("Das Modell hat zu lange gebraucht.")
  })

  test("[LG4] an unknown code, and fields that are missing or have the wrong type, keep the server's text", async () => {
    await showLanguage("de")
    const word = (code: string | null, fields = {}) => describeError(new RequestError(400, "English.", code, fields))
    expect(word("some_future_code")).toBe("English.")
    expect(word("constructor")).toBe("English.")
    expect(word(null)).toBe("English.")
    expect(word("message_too_large")).toBe("English.")
    expect(word("message_too_large", { max: "65536" })).toBe("English.")
    expect(describeEndReason("some_future_reason")).toBe("some_future_reason")
  })
})

describe.each(TRANSLATIONS)("%s", (language) => {
  test("[LG1] every string exists, none is empty, and none shows a missing value", async () => {
    await showLanguage(language)
    expect(welcomeText.examples).toHaveLength(4)
    const empty = listTexts().filter(([, text]) => text.trim() === "" || /undefined|\bNaN\b/.test(text))
    expect(empty).toEqual([])
  })

  test("[LG1] a message contains each of its parameters", async () => {
    const english = listTexts()
    await showLanguage(language)
    const texts = new Map(listTexts())
    const lost = english.filter(([name, text]) => {
      const markers = findMarkers(texts.get(name) ?? "")
      return findMarkers(text).some((marker) => !markers.includes(marker))
    })
    expect(lost.map(([name]) => name)).toEqual([])
  })
})
