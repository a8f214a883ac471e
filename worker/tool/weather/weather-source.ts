/**
 * weather-source.ts: the interface of weather sources, and the conversion of their readings to card payloads. Pure.
 *
 * A source provides numbers and codes. The descriptions, flags and rounding are the same for all sources.
 */

import type { WeatherDay, WeatherPayload } from "../../../shared/card/weather-payload.ts"
import type { Result } from "../../../shared/fault.ts"

/** The reason why a source returned no weather. `details` is one English sentence for the model and the user. */
export interface WeatherFault {
  readonly reason: "city_unknown" | "upstream_failed" | "upstream_timeout" | "upstream_malformed"
  readonly details: string
}

export interface WeatherSource {
  /** Does not throw, and returns soon after the signal is aborted. `now` is in milliseconds since 1970. */
  fetchWeather(location: string, now: number, signal: AbortSignal): Promise<Result<WeatherPayload, WeatherFault>>
}

/** The observation and forecast for one place. It uses the codes of WMO 4677, as Open-Meteo does. */
export interface WeatherReading {
  readonly place: string
  /** ISO 3166 code, or null. */
  readonly country: string | null
  /** Local time, "2026-05-02T14:00". */
  readonly time: string
  readonly isDay: boolean
  readonly code: number
  readonly temperatureC: number
  readonly feelsLikeC: number
  readonly humidityPct: number
  readonly windKmh: number
  /** The direction from which the wind comes, in degrees. */
  readonly windDegrees: number
  readonly precipMm: number
  readonly visibilityKm: number | null
  readonly uvIndex: number | null
  /** The days after today, at most MAX_FORECAST_DAYS. */
  readonly days: readonly WeatherForecast[]
}

export interface WeatherForecast {
  /** "2026-05-03", in the calendar of the place. */
  readonly date: string
  readonly code: number | null
  readonly maxC: number | null
  readonly minC: number | null
  readonly precipChancePct: number | null
  readonly precipMm: number | null
}

/** A temperature at or above this counts as hot, in °C. */
const HOT_C = 28
/** A temperature at or below this counts as cold, in °C. */
const COLD_C = 5
/** A wind speed at or above this, a fresh breeze, counts as windy, in km/h. */
const WINDY_KMH = 30

/** Converts a reading to the payload for the card and the model. */
export function readingToPayload(reading: WeatherReading, source: "sample" | "open-meteo"): WeatherPayload {
  const { code } = reading
  const days = reading.days.map(forecastToDay)
  const tomorrow = days[0]
  return {
    location: reading.country === null ? reading.place : `${reading.place}, ${reading.country}`,
    condition: codeToCondition(code),
    temperature_c: roundToTenth(reading.temperatureC),
    temperature_f: roundToTenth((reading.temperatureC * 9) / 5 + 32),
    feels_like_c: roundToTenth(reading.feelsLikeC),
    humidity_pct: Math.round(reading.humidityPct),
    wind_kmh: roundToTenth(reading.windKmh),
    wind_direction: degreesToCompassPoint(reading.windDegrees),
    visibility_km: reading.visibilityKm === null ? null : roundToTenth(reading.visibilityKm),
    uv_index: reading.uvIndex === null ? null : roundToTenth(reading.uvIndex),
    precip_mm: roundToTenth(reading.precipMm),
    observation_time: reading.time,
    is_raining: isRain(code),
    is_daylight: reading.isDay,
    is_hot: reading.temperatureC >= HOT_C,
    is_cold: reading.temperatureC <= COLD_C,
    is_windy: reading.windKmh >= WINDY_KMH,
    is_clear: code === 0 || code === 1,
    forecast_tomorrow_condition: tomorrow?.condition ?? null,
    forecast_tomorrow_max_c: tomorrow?.max_c ?? null,
    forecast_tomorrow_min_c: tomorrow?.min_c ?? null,
    forecast_tomorrow_precip_chance_pct: tomorrow?.precip_chance_pct ?? null,
    forecast_tomorrow_precip_mm: tomorrow?.precip_mm ?? null,
    forecast_days: days,
    source,
  }
}

function forecastToDay({ date, code, maxC, minC, precipChancePct, precipMm }: WeatherForecast): WeatherDay {
  return {
    date,
    condition: code === null ? null : codeToCondition(code),
    max_c: maxC,
    min_c: minC,
    precip_chance_pct: precipChancePct,
    precip_mm: precipMm,
  }
}

/** Returns the date `days` later: "2026-12-31" → "2027-01-01". */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)
}

/** Descriptions of the WMO 4677 codes, from Open-Meteo's documentation. */
const CONDITIONS: ReadonlyMap<number, string> = new Map([
  [0, "Clear sky"],
  [1, "Mainly clear"],
  [2, "Partly cloudy"],
  [3, "Overcast"],
  [45, "Fog"],
  [48, "Rime fog"],
  [51, "Light drizzle"],
  [53, "Drizzle"],
  [55, "Dense drizzle"],
  [56, "Light freezing drizzle"],
  [57, "Freezing drizzle"],
  [61, "Slight rain"],
  [63, "Rain"],
  [65, "Heavy rain"],
  [66, "Light freezing rain"],
  [67, "Freezing rain"],
  [71, "Slight snow"],
  [73, "Snow"],
  [75, "Heavy snow"],
  [77, "Snow grains"],
  [80, "Light rain showers"],
  [81, "Rain showers"],
  [82, "Violent rain showers"],
  [85, "Light snow showers"],
  [86, "Heavy snow showers"],
  [95, "Thunderstorm"],
  [96, "Thunderstorm with light hail"],
  [99, "Thunderstorm with hail"],
])

function codeToCondition(code: number): string {
  return CONDITIONS.get(code) ?? "Unknown"
}

/** Whether a code means drizzle, rain, rain showers or thunderstorms. Snow is not rain. */
function isRain(code: number): boolean {
  return (code >= 51 && code <= 67) || (code >= 80 && code <= 82) || code >= 95
}

const COMPASS_POINTS = [
  "N",
  "NNE",
  "NE",
  "ENE",
  "E",
  "ESE",
  "SE",
  "SSE",
  "S",
  "SSW",
  "SW",
  "WSW",
  "W",
  "WNW",
  "NW",
  "NNW",
]

function degreesToCompassPoint(degrees: number): string {
  const at = Math.round((((degrees % 360) + 360) % 360) / 22.5) % 16
  return COMPASS_POINTS[at] ?? "N"
}

function roundToTenth(value: number): number {
  const rounded = Math.round(value * 10) / 10
  // JSON turns -0 into 0. Without -0, live and stored payloads are equal.
  return rounded === 0 ? 0 : rounded
}
