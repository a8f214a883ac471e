/**
 * intent.ts: classifies the user's questions for the scripted model. Pure.
 *
 * It understands English questions about the weather in one or more places, follow-ups to them, and a few other
 * requests. It takes linear time, and reads only the start of a long message.
 */

export type Intent =
  | { readonly kind: "weather"; readonly places: readonly string[]; readonly isTomorrow: boolean }
  | { readonly kind: "which_place"; readonly isTomorrow: boolean }
  | { readonly kind: "hello" | "thanks" | "help" | "showcase" | "other" }

/** Only this many characters of a message are read. Questions are shorter. */
const MAX_READ_CHARS = 400
/** Maximum number of places, and therefore cards, in one answer. */
const MAX_PLACES = 8
/** Maximum number of earlier questions to which a chain of follow-ups can refer. */
const MAX_EARLIER_QUESTIONS = 20

const WEATHER = /\b(?:weather|forecasts?|temperatures?)\b/i
const SKY =
  /\b(?:rain\w*|snow\w*|sunny|sunshine|warm\w*|cold\w*|hot\w*|cool\w*|wind\w*|wet\w*|dr(?:y|ier)|umbrella|storm\w*|humid\w*|degrees|freez\w+|cloud\w*|fog\w*|jacket|coat|wear|chilly)\b/i
const QUESTION = /^(?:is|are|will|how|do|does|should|what|can|would|any|compare|which|where)\b/i
const ABOUT_IT = /^(?:is it|will it|will there|is there|does it|do i need|should i|how (?:warm|cold|hot|windy|wet))\b/i
const WRITING = /\b(?:poem|haiku|story|song|joke|essay|code|table|markdown|translate|explain)\b/i
const FOLLOW_UP = /^(?:and|or|then|also|now|what about|how about|and what about|and how about|same for)\s+(.+)$/i
const NOT_A_PLACE = /^(?:yes|no|ok(?:ay)?|thanks|thank you|hello|hi|hey|cool|great|nice|good|bye|stop|why|really)\b/i

/**
 * Returns the intent of the user's last message. `questions` contains the user's messages, oldest first.
 * If it is a follow-up ("and in Rome?"), up to MAX_EARLIER_QUESTIONS earlier messages are read too.
 */
export function parseIntent(questions: readonly string[]): Intent {
  return parseIntentAt(questions, questions.length - 1, MAX_EARLIER_QUESTIONS)
}

function parseIntentAt(questions: readonly string[], index: number, maxEarlier: number): Intent {
  const text = normalizeText(questions[index] ?? "")
  const isTomorrow = /\btomorrow\b/i.test(text)
  const timelessText = removeTimes(text)
  const isWeather = !WRITING.test(text) && (WEATHER.test(text) || (SKY.test(text) && QUESTION.test(text)))
  const places = isWeather ? findPlaces(timelessText) : []
  if (places.length > 0) return { kind: "weather", places, isTomorrow }
  const earlier = index > 0 && maxEarlier > 0 ? (): Intent => parseIntentAt(questions, index - 1, maxEarlier - 1) : null
  if (isWeather && (WEATHER.test(text) || ABOUT_IT.test(text))) return repeatWeatherIntent(earlier?.(), isTomorrow)
  return parseFollowUp(text, timelessText, earlier) ?? { kind: classifyIntent(text) }
}

/**
 * Repeats the earlier question, because "Will it rain tomorrow?" refers to its places. Without an earlier question, the
 * model asks for a place.
 */
function repeatWeatherIntent(earlier: Intent | undefined, isTomorrow: boolean): Intent {
  return earlier?.kind === "weather" ? { ...earlier, isTomorrow } : { kind: "which_place", isTomorrow }
}

/**
 * Parses "And in Rome?", "and tomorrow?", or a bare place name as the answer to our question. Returns null for anything
 * else.
 */
function parseFollowUp(text: string, timelessText: string, earlier: (() => Intent) | null): Intent | null {
  const rest = FOLLOW_UP.exec(text)?.[1]
  const isShort = text.length <= 60 && !NOT_A_PLACE.test(text)
  if (earlier === null || (rest === undefined && !isShort)) return null
  const previous = earlier()
  if (previous.kind !== "weather" && previous.kind !== "which_place") return null
  const isBare = rest === undefined
  if (isBare && previous.kind === "weather" && !/^(?:in|for)\s/i.test(text)) return null
  const places = splitPlaces(isBare ? timelessText : removeTimes(rest), false)
  const isTomorrow = /\btomorrow\b/i.test(text) || previous.isTomorrow
  if (places.length > 0) return { kind: "weather", places, isTomorrow }
  if (rest !== undefined && removeTimes(rest) === "" && previous.kind === "weather") {
    return { ...previous, isTomorrow: /\btomorrow\b/i.test(text) }
  }
  return null
}

function classifyIntent(text: string): Exclude<Intent["kind"], "weather" | "which_place"> {
  if (/\bhelp\b|what can you do|who are you|what are you/i.test(text)) return "help"
  if (/\b(?:markdown|tables?|code|lists?|quotes?|formatting|showcase|demo)\b/i.test(text)) return "showcase"
  if (/^(?:hi|hello|hey|good (?:morning|day|afternoon|evening))\b/i.test(text)) return "hello"
  return /^(?:thanks|thank you|cheers|great|nice|perfect)\b/i.test(text) ? "thanks" : "other"
}

function normalizeText(text: string): string {
  const head = text.slice(0, MAX_READ_CHARS).replace(/[’‘]/g, "'").replace(/\s+/g, " ").trim()
  return head.replace(/[\s.?!…:;,]+$/, "")
}

const DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
const TIMES = new RegExp(
  [
    "\\b(?:for |from |on |by )?(?:right now|just now|at the moment|at this moment|now|currently|today|tonight|tomorrow)(?:'s)?\\b",
    `\\b(?:for |on )?(?:this|next|on) (?:morning|afternoon|evening|week|weekend|${DAY})\\b`,
    "\\b(?:in|for|over) the (?:next (?:few )?(?:days|hours)|morning|afternoon|evening|weekend)\\b",
    "\\b(?:please|thanks|thank you)\\b",
  ].join("|"),
  "gi",
)

function removeTimes(text: string): string {
  return normalizeText(text.replace(TIMES, " ")).replace(/ ([,.])/g, "$1")
}

/** Patterns of questions, most specific first. The last group is the part of the question that names the places. */
const COMPARE = /\bcompare\b(?: the)?(?: (?:weather|forecasts?|temperatures?))?(?: (?:in|of|for|between))?\s+(.+)$/i
const REGIONS: readonly RegExp[] = [
  /\b(?:in|for|at|near|around|between)\s+(.+)$/i,
  /\b(?:weather|forecast|temperatures?) of\s+(.+)$/i,
  /^(?:is|will)\s+(.+\s(?:(?:be )?(?:warmer|colder|hotter|cooler|wetter|drier|sunnier|windier))\s+than\s+.+)$/i,
  /\b(?:weather|forecast|temperatures?)(?: (?:like|report|forecast))?:?\s+(.+)$/i,
  /^(?:(?:what'?s|what is|how'?s|how is|show me|give me|get|check|tell me)\s+)?(?:the\s+)?(.+?)(?:'s)?\s+(?:weather|forecast|temperatures?)\b/i,
]

function findPlaces(text: string): string[] {
  const compared = COMPARE.exec(text)?.[1]
  if (compared !== undefined) return splitPlaces(compared, true)
  for (const form of REGIONS) {
    const region = form.exec(text)?.[1]
    const places = region === undefined ? [] : splitPlaces(region, false)
    if (places.length > 0) return places
  }
  return []
}

const SEPARATOR =
  /\s*[,;/&+]\s*(?:(?:and|or)\b)?|\s+(?:as well as|and also|and then|and|or|vs\.?|versus|than|plus|(?:(?:be )?(?:warmer|colder|hotter|cooler|wetter|drier|sunnier|windier) than))\s+/i
const SEPARATOR_OF_TWO = new RegExp(`${SEPARATOR.source}|\\s+(?:with|to|against)\\s+`, "i")

/** Names that locate the city before them if they follow a comma. */
const COUNTRIES = new Set(
  (
    "uk|gb|england|scotland|wales|ireland|usa|us|united states|canada|ontario|texas|california|oregon|florida|maine|mexico|france|germany|" +
    "italy|spain|portugal|netherlands|belgium|austria|switzerland|poland|sweden|norway|finland|denmark|iceland|greece|" +
    "turkey|ukraine|czechia|hungary|egypt|kenya|nigeria|south africa|india|china|japan|south korea|thailand|indonesia|" +
    "australia|new zealand|brazil|argentina|chile|peru|colombia|uae|fr|de|it|es|jp"
  ).split("|"),
)

function splitPlaces(region: string, isPair: boolean): string[] {
  const places: string[] = []
  let wasCountry = true
  for (const item of region.split(isPair ? SEPARATOR_OF_TWO : SEPARATOR)) {
    const place = parsePlace(item)
    if (place === null) continue
    const isCountry = COUNTRIES.has(place.toLowerCase())
    const last = places.at(-1)
    if (isCountry && !wasCountry && last !== undefined && region.includes(",")) {
      places[places.length - 1] = `${last}, ${place.length <= 3 ? place.toUpperCase() : place}`
    } else {
      places.push(place)
    }
    wasCountry = isCountry
  }
  return [...new Set(places)].slice(0, MAX_PLACES)
}

const LEADING =
  /^(?:(?:in|for|at|near|around|between|both|over|also|then|like|of|(?:what|how) about|the (?:weather|forecast|temperature|city)|weather|forecast|temperature)\s+)+/i
const TRAILING =
  /\s+(?:for|on|during|when|while|because|if|so|as|but|is|was|will|be|look|looks|going|by|until|in|like)\b.*$/i
const NOT_A_NAME =
  /\b(?:i|i'm|me|my|we|you|your|it|its|it's|is|are|should|do|does|what|what's|how|how's|tell|need|will|whether|which|who|where|why|when|there|here|general|celsius|fahrenheit|degrees|details?|advance|case|them|like|not|a|the|weather|forecast|temperature|rain|snow|sun|trip)\b/i

/** Returns the place that the text names; null if it names none. */
function parsePlace(item: string): string | null {
  const bare = item.replace(/^["'([\s]+|["')\]\s.?!…:;,]+$/g, "").replace(LEADING, "")
  const name = bare.replace(TRAILING, "").replace(/\s+(?:weather|forecast)$/i, "")
  const known = name.replace(/^the (?=hague\b|bronx\b|vatican\b)/i, "")
  if (/^(?:city|town|place|world|area|both)$/i.test(name)) return null
  if (!/^\p{L}[\p{L}\p{M}'. -]*$/u.test(name) || name.length > 60 || name.split(" ").length > 5) return null
  return NOT_A_NAME.test(known) ? null : capitalizePlace(name)
}

const SMALL_WORDS = new Set(["de", "da", "do", "del", "di", "la", "le", "am", "an", "der", "upon", "of", "on", "and"])

/** Capitalises "new york" and "NEW YORK". A name in mixed case is not changed. */
function capitalizePlace(name: string): string {
  if (name === name.toUpperCase() && name.length > 3) return capitalizePlace(name.toLowerCase())
  if (name !== name.toLowerCase()) return name
  if (/^(?:nyc|la|sf|uk|us|usa)$/.test(name)) return name.toUpperCase()
  const words = name.split(" ").map((word, i) => (i > 0 && SMALL_WORDS.has(word) ? word : uppercaseFirst(word)))
  return words.join(" ")
}

function uppercaseFirst(word: string): string {
  return word.replace(/(^|-)(\p{L})/gu, (_all, before: string, letter: string) => before + letter.toUpperCase())
}
