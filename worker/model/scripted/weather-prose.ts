/**
 * weather-prose.ts: the scripted model's sentences about tool results. Pure.
 *
 * results → Markdown with span tags
 * Like a real model, it reads the tag from the result's trailer, and every figure from the result's data. A result
 * without a trailer gets no span, and a failed call gets a sentence.
 */

import { type ChartPayload, isChartPayload } from "../../../shared/card/chart-payload.ts"
import { isWeatherPayload, type WeatherPayload } from "../../../shared/card/weather-payload.ts"
import { type Json, parseJson } from "../../../shared/json.ts"
import { writeAgentPoints } from "./scripted-agents.ts"
import { describeToolResult } from "./scripted-tools.ts"

/** A call and its result, as in the model's context. */
export interface CallOutcome {
  readonly name: string
  /** JSON text, as the model wrote it. */
  readonly args: string
  readonly result: string
}

type ParsedOutcome =
  | { readonly kind: "weather"; readonly tag: string | null; readonly payload: WeatherPayload }
  | { readonly kind: "error"; readonly name: string; readonly place: string; readonly error: string }
  | { readonly kind: "renamed"; readonly title: string }
  | { readonly kind: "agent"; readonly name: string; readonly answer: string | null }
  | { readonly kind: "chart"; readonly tag: string | null; readonly payload: ChartPayload }
  | { readonly kind: "other"; readonly name: string; readonly tag: string | null }

/** Returns the answer to a turn's tool results. `isTomorrow`: the user asked about tomorrow. */
export function writeAnswer(outcomes: readonly CallOutcome[], isTomorrow: boolean): string {
  const parsed = outcomes.map(parseOutcome)
  const readings = parsed.flatMap((outcome) => (outcome.kind === "weather" ? [outcome.payload] : []))
  let weatherIndex = 0
  const parts = parsed.map((outcome) =>
    describeOutcome(outcome, outcome.kind === "weather" ? weatherIndex++ : weatherIndex, readings.length, isTomorrow),
  )
  return [...parts, writeClosing(readings, isTomorrow)].filter((part) => part !== "").join("\n\n")
}

/** Splits a result at its first blank line: data before it, and after it the trailer, which may name a tag. */
function parseOutcome({ name, args, result }: CallOutcome): ParsedOutcome {
  const blank = result.indexOf("\n\n")
  const data = parseJson(blank < 0 ? result : result.slice(0, blank))
  const tag = blank < 0 ? null : (/<span id=['"]([a-z][a-z0-9_]*_\d+)['"]>/.exec(result.slice(blank))?.[1] ?? null)
  if (isWeatherPayload(data)) return { kind: "weather", tag, payload: data }
  if (name === "chart" && isChartPayload(data)) return { kind: "chart", tag, payload: data }
  const error = readTextField(data, "error")
  if (error !== null) return { kind: "error", name, place: describeCallSubject(name, args), error }
  if (name === "agents_message")
    return { kind: "agent", name: readAgentName(args), answer: readTextField(data, "answer") }
  const title = name === "rename_conversation" ? readTextField(data, "title") : null
  return title === null ? { kind: "other", name, tag } : { kind: "renamed", title }
}

/** Returns the subject of a failed call: an agent, a place, or the tool itself. */
function describeCallSubject(name: string, args: string): string {
  return name === "agents_message" ? readAgentName(args) : (readTextField(parseJson(args), "location") ?? name)
}

function readAgentName(args: string): string {
  return readTextField(parseJson(args), "agent") ?? "other agent"
}

function readTextField(value: Json | undefined, name: string): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null
  const field: unknown = Reflect.get(value, name)
  return typeof field === "string" ? field : null
}

function describeOutcome(outcome: ParsedOutcome, index: number, count: number, isTomorrow: boolean): string {
  switch (outcome.kind) {
    case "renamed":
      return `Done. This conversation is now called **${outcome.title}**.`
    case "agent":
      if (outcome.answer !== null) return writeAgentPoints(outcome.name, outcome.answer)
      return `The **${outcome.name}** agent is working on it. The answer will arrive here as a separate message.`
    case "error":
      if (outcome.name === "agents_message")
        return `The **${outcome.place}** agent couldn't help: ${lowercaseFirst(outcome.error)}`
      if (outcome.name === "rename_conversation") return `I didn't change the title: ${lowercaseFirst(outcome.error)}`
      if (outcome.name !== "weather") return `The tool \`${outcome.name}\` failed: ${lowercaseFirst(outcome.error)}`
      return `I couldn't get the weather for **${outcome.place}**: ${lowercaseFirst(outcome.error)}`
    case "chart": {
      const sentence = describeChart(outcome.payload)
      return outcome.tag === null ? sentence : `Here it is:\n\n<span id='${outcome.tag}'>${sentence}</span>`
    }
    case "other":
      return outcome.tag === null
        ? `The tool \`${outcome.name}\` returned a result.`
        : `<span id='${outcome.tag}'>${describeToolResult(outcome.name)}</span>`
    case "weather": {
      const sentence = isTomorrow ? describeTomorrow(outcome.payload) : describeNow(outcome.payload)
      const shown = outcome.tag === null ? sentence : `<span id='${outcome.tag}'>${sentence}</span>`
      return `${writeLeadIn(getPlaceName(outcome.payload), index, count)}\n\n${shown}`
    }
  }
}

function describeChart({ data }: ChartPayload): string {
  const byValue = [...data].sort((a, b) => b.value - a.value)
  const [highest, lowest] = [byValue[0], byValue.at(-1)]
  if (highest === undefined || lowest === undefined || highest.value === lowest.value) return "All of them are equal."
  return `The highest is ${highest.label}, the lowest ${lowest.label}.`
}

function writeLeadIn(place: string, index: number, count: number): string {
  if (count === 1) return `Here's what I found for ${place}.`
  if (index === 0) return `First, ${place}:`
  return index === count - 1 ? `And ${place}:` : `Next, ${place}:`
}

function describeNow(weather: WeatherPayload): string {
  const feels =
    Math.abs(weather.temperature_c - weather.feels_like_c) >= 1.5
      ? `, feeling like ${formatDegrees(weather.feels_like_c)}`
      : ""
  const wind = weather.is_windy ? ` and a strong wind from the ${weather.wind_direction}` : ""
  const now = `It is ${formatDegrees(weather.temperature_c)} in ${getPlaceName(weather)} with ${conditionToPhrase(weather.condition)}${wind}${feels}.`
  const tomorrow = describeForecast(weather)
  return tomorrow === null ? now : `${now} Tomorrow: ${tomorrow}.`
}

function describeTomorrow(weather: WeatherPayload): string {
  const tomorrow = describeForecast(weather)
  if (tomorrow === null) return `There is no forecast for ${getPlaceName(weather)} yet. ${describeNow(weather)}`
  const now = `${formatDegrees(weather.temperature_c)} with ${conditionToPhrase(weather.condition)}`
  return `Tomorrow in ${getPlaceName(weather)}: ${tomorrow}. Right now it is ${now}.`
}

function describeForecast(weather: WeatherPayload): string | null {
  const { forecast_tomorrow_condition: condition, forecast_tomorrow_max_c: max, forecast_tomorrow_min_c: min } = weather
  if (condition === null) return null
  const range = max === null || min === null ? "" : `, ${formatNumber(min)} to ${formatDegrees(max)}`
  const chance = weather.forecast_tomorrow_precip_chance_pct
  const rain =
    chance === null || chance < 30 ? "" : `, ${formatPercent(chance)} chance of ${isSnow(condition) ? "snow" : "rain"}`
  return `${lowercaseFirst(condition)}${range}${rain}`
}

/** Returns a closing sentence: which place is warmer, and where an umbrella is needed. */
function writeClosing(readings: readonly WeatherPayload[], isTomorrow: boolean): string {
  return [compareTemperatures(readings, isTomorrow), adviseOnUmbrella(readings, isTomorrow)]
    .filter((part) => part !== "")
    .join(" ")
}

function compareTemperatures(readings: readonly WeatherPayload[], isTomorrow: boolean): string {
  // Rounded, so that the difference matches the numbers that the user sees.
  const getTemperature = (reading: WeatherPayload): number =>
    Math.round((isTomorrow ? reading.forecast_tomorrow_max_c : null) ?? reading.temperature_c)
  const byTemperature = [...readings].sort((a, b) => getTemperature(b) - getTemperature(a))
  const warmest = byTemperature[0]
  const coldest = byTemperature.at(-1)
  if (warmest === undefined || coldest === undefined || warmest === coldest) return ""
  const gap = getTemperature(warmest) - getTemperature(coldest)
  const be = isTomorrow ? "will be" : "is"
  if (gap === 0 && readings.length > 2) return `It ${be} equally warm in ${joinWords(readings.map(getPlaceName))}.`
  if (gap === 0) return `${getPlaceName(warmest)} ${be} as warm as ${getPlaceName(coldest)}.`
  if (readings.length > 2) {
    return `${getPlaceName(warmest)} ${be} the warmest at ${formatDegrees(getTemperature(warmest))}, ${getPlaceName(coldest)} the coldest at ${formatDegrees(getTemperature(coldest))}.`
  }
  return `${getPlaceName(warmest)} ${be} ${gap} ${gap === 1 ? "degree" : "degrees"} warmer than ${getPlaceName(coldest)}.`
}

function adviseOnUmbrella(readings: readonly WeatherPayload[], isTomorrow: boolean): string {
  if (readings.length === 0) return ""
  const later = readings.filter((reading) => (reading.forecast_tomorrow_precip_chance_pct ?? 0) >= 50)
  const rainNow = isTomorrow ? [] : readings.filter((reading) => reading.is_raining)
  const snowNow = isTomorrow ? [] : readings.filter((reading) => isSnow(reading.condition))
  const snowLater = later.filter((reading) => isSnow(reading.forecast_tomorrow_condition) && !snowNow.includes(reading))
  const rainLater = later.filter(
    (reading) => !isSnow(reading.forecast_tomorrow_condition) && !rainNow.includes(reading),
  )
  const snow = describePlaces("It is snowing in", "Expect snow in", snowNow, snowLater)
  const rain = describePlaces("You need an umbrella in", "Take an umbrella in", rainNow, rainLater)
  const advice = [rain, snow].filter((sentence) => sentence !== "").join(" ")
  return advice === "" ? "You can leave the umbrella at home." : advice
}

function describePlaces(
  nowIn: string,
  laterIn: string,
  now: readonly WeatherPayload[],
  later: readonly WeatherPayload[],
): string {
  const [nowNames, laterNames] = [joinWords(now.map(getPlaceName)), joinWords(later.map(getPlaceName))]
  if (nowNames === "") return laterNames === "" ? "" : `${laterIn} ${laterNames} tomorrow.`
  return `${nowIn} ${nowNames} now${laterNames === "" ? "" : `, and in ${laterNames} tomorrow`}.`
}

function isSnow(condition: string | null): boolean {
  return condition !== null && /snow/i.test(condition)
}

/** Joins words as in "London, Paris and Rome". */
export function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`
}

/** Drops the country, which the card shows: "London, GB" → "London". */
function getPlaceName(reading: WeatherPayload): string {
  return reading.location.replace(/, [A-Z]{2}$/, "")
}

/** Returns the condition as it reads after "with": "a clear sky", "slight rain". */
function conditionToPhrase(condition: string): string {
  switch (condition) {
    case "Clear sky":
      return "a clear sky"
    case "Mainly clear":
      return "a mainly clear sky"
    case "Partly cloudy":
      return "a partly cloudy sky"
    case "Overcast":
      return "an overcast sky"
    case "Thunderstorm":
      return "a thunderstorm"
    default:
      return lowercaseFirst(condition)
  }
}

function formatDegrees(celsius: number): string {
  return `${formatNumber(celsius)} °C`
}

/** Formats a whole number with a minus sign (U+2212), as on the card. */
function formatNumber(value: number): string {
  const whole = Math.round(value)
  return `${whole < 0 ? "−" : ""}${Math.abs(whole)}`
}

/** Formats a percentage with its article: "a 70%", "an 80%". */
function formatPercent(value: number): string {
  const rounded = Math.round(value)
  return `${/^(?:8|11$|18$)/.test(String(rounded)) ? "an" : "a"} ${rounded}%`
}

function lowercaseFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
