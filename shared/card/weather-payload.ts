/**
 * weather-payload.ts: the payload of a weather card, its type guard, and the choice of the card's icon.
 *
 * tool result → payload → GUARD → card
 * If a payload does not pass the guard, the page shows the card's text instead. The guard is written by hand because a
 * schema library would enlarge the page.
 */

import { isJsonObject, type Json } from "../json.ts"
import { MAX_FORECAST_DAYS } from "./card-limits.ts"

/** A weather reading, as the tool returns it. A field is null if the source does not provide it. */
export interface WeatherPayload {
  /** For example "London, GB", or only the name if the country is unknown. */
  readonly location: string
  readonly condition: string
  readonly temperature_c: number
  readonly temperature_f: number
  readonly feels_like_c: number
  readonly humidity_pct: number
  readonly wind_kmh: number
  /** One of sixteen compass points, for example "WSW". */
  readonly wind_direction: string
  readonly visibility_km: number | null
  readonly uv_index: number | null
  readonly precip_mm: number
  /** Local time at the place, without a time zone, for example "2026-05-02T14:00". */
  readonly observation_time: string
  readonly is_raining: boolean
  readonly is_daylight: boolean
  readonly is_hot: boolean
  readonly is_cold: boolean
  readonly is_windy: boolean
  readonly is_clear: boolean
  readonly forecast_tomorrow_condition: string | null
  readonly forecast_tomorrow_max_c: number | null
  readonly forecast_tomorrow_min_c: number | null
  readonly forecast_tomorrow_precip_chance_pct: number | null
  readonly forecast_tomorrow_precip_mm: number | null
  /** The days after today, at most MAX_FORECAST_DAYS. Absent in payloads from version 0.1.0 and from other systems. */
  readonly forecast_days?: readonly WeatherDay[]
  /** `sample`: fictitious data, which the card marks as such. Absent in payloads from other systems. */
  readonly source?: "sample" | "open-meteo"
}

/** The forecast for one day. A value is null if the source does not provide it. */
export interface WeatherDay {
  /** Local date at the place, for example "2026-05-03". */
  readonly date: string
  readonly condition: string | null
  readonly max_c: number | null
  readonly min_c: number | null
  readonly precip_chance_pct: number | null
  readonly precip_mm: number | null
}

const TEXT_FIELDS = ["location", "condition", "wind_direction", "observation_time"] as const

const NUMBER_FIELDS = [
  "temperature_c",
  "temperature_f",
  "feels_like_c",
  "humidity_pct",
  "wind_kmh",
  "precip_mm",
] as const

const NULLABLE_NUMBER_FIELDS = [
  "visibility_km",
  "uv_index",
  "forecast_tomorrow_max_c",
  "forecast_tomorrow_min_c",
  "forecast_tomorrow_precip_chance_pct",
  "forecast_tomorrow_precip_mm",
] as const

const DAY_NUMBER_FIELDS = ["max_c", "min_c", "precip_chance_pct", "precip_mm"] as const

const FLAG_FIELDS = ["is_raining", "is_daylight", "is_hot", "is_cold", "is_windy", "is_clear"] as const

/** Returns whether a value is a weather payload. Unknown fields are ignored. SPEC CA1. */
export function isWeatherPayload(value: unknown): value is WeatherPayload {
  if (!isJsonObject(value)) return false
  const readField = (name: string): unknown => readOwn(value, name)
  const tomorrow = readField("forecast_tomorrow_condition")
  const source = readField("source")
  return (
    TEXT_FIELDS.every((name) => typeof readField(name) === "string") &&
    NUMBER_FIELDS.every((name) => Number.isFinite(readField(name))) &&
    NULLABLE_NUMBER_FIELDS.every((name) => readField(name) === null || Number.isFinite(readField(name))) &&
    FLAG_FIELDS.every((name) => typeof readField(name) === "boolean") &&
    (tomorrow === null || typeof tomorrow === "string") &&
    isForecast(readField("forecast_days")) &&
    (source === undefined || source === "sample" || source === "open-meteo")
  )
}

function readOwn(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}

function isForecast(value: unknown): boolean {
  if (value === undefined) return true
  return Array.isArray(value) && value.length <= MAX_FORECAST_DAYS && value.every(isWeatherDay)
}

function isWeatherDay(value: unknown): value is WeatherDay {
  if (!isJsonObject(value)) return false
  const [date, condition] = [readOwn(value, "date"), readOwn(value, "condition")]
  return (
    typeof date === "string" &&
    /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.test(date) &&
    (condition === null || typeof condition === "string") &&
    DAY_NUMBER_FIELDS.every((name) => readOwn(value, name) === null || Number.isFinite(readOwn(value, name)))
  )
}

/** Returns the value as a typed payload, or null. */
export function parseWeatherPayload(value: Json): WeatherPayload | null {
  return isWeatherPayload(value) ? value : null
}

/** The name of one of the page's weather icons. Icons that show the sky have a night variant. */
export type WeatherIcon =
  | "sunny"
  | "clear_night"
  | "partly_cloudy"
  | "partly_cloudy_night"
  | "cloudy"
  | "rain"
  | "rain_night"
  | "snow"
  | "storm"
  | "fog"

/** The fields that determine the icon. */
export type SkyState = Pick<WeatherPayload, "condition" | "is_daylight" | "is_raining" | "is_clear">

/** The daytime icon for words in the condition. The first match wins, so "snow showers" is snow. */
const CONDITION_ICONS: readonly (readonly [words: RegExp, icon: WeatherIcon])[] = [
  [/thunder|storm|hail/, "storm"],
  [/snow|sleet|blizzard|flurries/, "snow"],
  [/rain|drizzle|shower/, "rain"],
  [/fog|mist|haze|smoke/, "fog"],
  [/partly|few clouds|scattered/, "partly_cloudy"],
  [/overcast|cloud/, "cloudy"],
  [/clear|sun|fair/, "sunny"],
]

/**
 * Selects a card's icon. Rain overrides a condition that only describes clouds; if the condition is unknown, the flags
 * determine the icon. SPEC CA2.
 */
export function selectWeatherIcon(sky: SkyState): WeatherIcon {
  const condition = sky.condition.toLowerCase()
  const conditionIcon =
    CONDITION_ICONS.find(([words]) => words.test(condition))?.[1] ?? (sky.is_clear ? "sunny" : "cloudy")
  const isDry = conditionIcon === "sunny" || conditionIcon === "partly_cloudy" || conditionIcon === "cloudy"
  const icon = sky.is_raining && isDry ? "rain" : conditionIcon
  return sky.is_daylight ? icon : toNightIcon(icon)
}

/** Returns the daytime icon for tomorrow's forecast. */
export function selectForecastIcon(condition: string): WeatherIcon {
  return selectWeatherIcon({ condition, is_daylight: true, is_raining: false, is_clear: false })
}

function toNightIcon(icon: WeatherIcon): WeatherIcon {
  switch (icon) {
    case "sunny":
    case "clear_night":
      return "clear_night"
    case "partly_cloudy":
    case "partly_cloudy_night":
      return "partly_cloudy_night"
    case "rain":
    case "rain_night":
      return "rain_night"
    case "cloudy":
    case "snow":
    case "storm":
    case "fog":
      return icon
  }
}
