/**
 * weather-prose.ts: the scripted model's sentences about tool results.
 *
 * results → ANSWER → Markdown with spans
 * Honest as a real model must be: the tag is read out of the result text, and every figure out of its data.
 * A result without a trailer gets no span; a failed one is said in words.
 * Pure.
 */

import { isWeatherPayload, type WeatherPayload } from "../../../shared/card/weather-payload.ts"
import { type Json, parseJson } from "../../../shared/protocol/frame.ts"
import { quoted } from "./scripted-agents.ts"

/** One call and what came back, as the model's context holds them. */
export interface Outcome {
  readonly name: string
  /** JSON text, as the model wrote it. */
  readonly args: string
  readonly result: string
}

type Heard =
  | { readonly kind: "weather"; readonly tag: string | null; readonly payload: WeatherPayload }
  | { readonly kind: "error"; readonly name: string; readonly place: string; readonly error: string }
  | { readonly kind: "renamed"; readonly title: string }
  | { readonly kind: "agent"; readonly name: string; readonly answer: string | null }
  | { readonly kind: "other"; readonly name: string; readonly tag: string | null }

/** The reply to a turn's tool results. `isTomorrow`: that is what was asked. */
export function answerTo(outcomes: readonly Outcome[], isTomorrow: boolean): string {
  const heard = outcomes.map(hear)
  const skies = heard.flatMap((one) => (one.kind === "weather" ? [one.payload] : []))
  let shown = 0
  const parts = heard.map((one) => tell(one, one.kind === "weather" ? shown++ : shown, skies.length, isTomorrow))
  return [...parts, closing(skies, isTomorrow)].filter((part) => part !== "").join("\n\n")
}

/** What stands before the first blank line is data; what follows it is an instruction to us, which may name a tag. */
function hear({ name, args, result }: Outcome): Heard {
  const blank = result.indexOf("\n\n")
  const data = parseJson(blank < 0 ? result : result.slice(0, blank))
  const tag = blank < 0 ? null : (/<span id=['"]([a-z][a-z0-9_]*_\d+)['"]>/.exec(result.slice(blank))?.[1] ?? null)
  if (isWeatherPayload(data)) return { kind: "weather", tag, payload: data }
  const error = textField(data, "error")
  if (error !== null) return { kind: "error", name, place: placeIn(name, args), error }
  if (name === "agents_message") return { kind: "agent", name: agentIn(args), answer: textField(data, "answer") }
  const title = name === "rename_conversation" ? textField(data, "title") : null
  return title === null ? { kind: "other", name, tag } : { kind: "renamed", title }
}

/** What a call that failed was about. */
function placeIn(name: string, args: string): string {
  return name === "agents_message" ? agentIn(args) : (textField(parseJson(args), "location") ?? name)
}

function agentIn(args: string): string {
  return textField(parseJson(args), "agent") ?? "other agent"
}

function textField(value: Json | undefined, name: string): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null
  const field: unknown = Reflect.get(value, name)
  return typeof field === "string" ? field : null
}

function tell(heard: Heard, at: number, of: number, isTomorrow: boolean): string {
  switch (heard.kind) {
    case "renamed":
      return `Done. This conversation is now called **${heard.title}**.`
    case "agent":
      if (heard.answer !== null) return `**${heard.name}** says:\n\n${quoted(heard.answer)}`
      return `**${heard.name}** is at work. Its answer will come here as a message of its own.`
    case "error":
      if (heard.name === "agents_message") return `**${heard.place}** could not help: ${lowerFirst(heard.error)}`
      if (heard.name === "rename_conversation") return `The title stays as it is: ${lowerFirst(heard.error)}`
      if (heard.name !== "weather") return `The tool \`${heard.name}\` did not do it: ${lowerFirst(heard.error)}`
      return `I could not get the weather for **${heard.place}**: ${lowerFirst(heard.error)}`
    case "other":
      return heard.tag === null
        ? `The tool \`${heard.name}\` has answered.`
        : `<span id='${heard.tag}'>The tool ${heard.name} has answered.</span>`
    case "weather": {
      const said = isTomorrow ? tomorrowIn(heard.payload) : nowIn(heard.payload)
      const shown = heard.tag === null ? said : `<span id='${heard.tag}'>${said}</span>`
      return `${leadIn(placeOf(heard.payload), at, of)}\n\n${shown}`
    }
  }
}

function leadIn(place: string, at: number, of: number): string {
  if (of === 1) return `Here is what I found for ${place}.`
  if (at === 0) return `First, ${place}:`
  return at === of - 1 ? `And this is ${place}:` : `Then ${place}:`
}

function nowIn(sky: WeatherPayload): string {
  const feels =
    Math.abs(sky.temperature_c - sky.feels_like_c) >= 1.5 ? `, feeling like ${degrees(sky.feels_like_c)}` : ""
  const wind = sky.is_windy ? ` and a strong wind from the ${sky.wind_direction}` : ""
  const now = `It is ${degrees(sky.temperature_c)} in ${placeOf(sky)} with ${conditionIn(sky.condition)}${wind}${feels}.`
  const tomorrow = forecastIn(sky)
  return tomorrow === null ? now : `${now} Tomorrow: ${tomorrow}.`
}

function tomorrowIn(sky: WeatherPayload): string {
  const tomorrow = forecastIn(sky)
  if (tomorrow === null) return `There is no forecast for ${placeOf(sky)} yet. ${nowIn(sky)}`
  const now = `${degrees(sky.temperature_c)} with ${conditionIn(sky.condition)}`
  return `Tomorrow in ${placeOf(sky)}: ${tomorrow}. Right now it is ${now}.`
}

function forecastIn(sky: WeatherPayload): string | null {
  const { forecast_tomorrow_condition: condition, forecast_tomorrow_max_c: max, forecast_tomorrow_min_c: min } = sky
  if (condition === null) return null
  const range = max === null || min === null ? "" : `, ${Math.round(min)} to ${degrees(max)}`
  const chance = sky.forecast_tomorrow_precip_chance_pct
  const rain =
    chance === null || chance < 30 ? "" : `, ${percent(chance)} chance of ${/snow/i.test(condition) ? "snow" : "rain"}`
  return `${lowerFirst(condition)}${range}${rain}`
}

/** What the readings mean side by side: who is warmer, and where an umbrella is needed. */
function closing(skies: readonly WeatherPayload[], isTomorrow: boolean): string {
  return [compared(skies, isTomorrow), umbrella(skies, isTomorrow)].filter((part) => part !== "").join(" ")
}

function compared(skies: readonly WeatherPayload[], isTomorrow: boolean): string {
  const heat = (sky: WeatherPayload): number => (isTomorrow ? sky.forecast_tomorrow_max_c : null) ?? sky.temperature_c
  const byHeat = [...skies].sort((a, b) => heat(b) - heat(a))
  const warmest = byHeat[0]
  const coldest = byHeat.at(-1)
  if (warmest === undefined || coldest === undefined || warmest === coldest) return ""
  const gap = Math.round(heat(warmest) - heat(coldest))
  const be = isTomorrow ? "will be" : "is"
  if (gap === 0) return `It ${be} about equally warm in ${listOf(skies.map(placeOf))}.`
  if (skies.length > 2) {
    return `${placeOf(warmest)} ${be} the warmest at ${degrees(heat(warmest))}, ${placeOf(coldest)} the coldest at ${degrees(heat(coldest))}.`
  }
  return `${placeOf(warmest)} ${be} ${gap} ${gap === 1 ? "degree" : "degrees"} warmer than ${placeOf(coldest)}.`
}

function umbrella(skies: readonly WeatherPayload[], isTomorrow: boolean): string {
  if (skies.length === 0) return ""
  const now = isTomorrow ? [] : skies.filter((sky) => sky.is_raining)
  const later = skies.filter((sky) => !now.includes(sky) && (sky.forecast_tomorrow_precip_chance_pct ?? 0) >= 50)
  const places = (some: readonly WeatherPayload[]): string => listOf(some.map(placeOf))
  if (now.length === 0 && later.length === 0) return "You can leave the umbrella at home."
  if (now.length === 0) return `Take an umbrella in ${places(later)} tomorrow.`
  const tomorrow = later.length === 0 ? "" : `, and in ${places(later)} tomorrow`
  return `You need an umbrella in ${places(now)} now${tomorrow}.`
}

function listOf(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`
}

/** "London, GB" → "London": the card says the rest. */
function placeOf(sky: WeatherPayload): string {
  return sky.location.replace(/, [A-Z]{2}$/, "")
}

/** "with a clear sky", "with slight rain". */
function conditionIn(condition: string): string {
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
      return lowerFirst(condition)
  }
}

function degrees(celsius: number): string {
  const rounded = Math.round(celsius)
  return `${rounded === 0 ? 0 : rounded} °C`
}

/** "a 70%", "an 80%". */
function percent(value: number): string {
  const rounded = Math.round(value)
  return `${/^(?:8|11$|18$)/.test(String(rounded)) ? "an" : "a"} ${rounded}%`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
