/**
 * open-meteo.ts: real weather from Open-Meteo's public API (open-meteo.com/en/docs): geocoding, then the forecast.
 *
 * Results are cached. A result is reused for WEATHER_FRESH_MS. If the upstream fails, a result that is up to
 * WEATHER_STALE_MS old is used; the card shows its `observation_time`.
 */

import * as v from "valibot"
import { MAX_FORECAST_DAYS } from "../../../shared/card/card-limits.ts"
import type { WeatherPayload } from "../../../shared/card/weather-payload.ts"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { parseJson } from "../../../shared/json.ts"
import { WEATHER_FRESH_MS, WEATHER_STALE_MS } from "../../../shared/limits.ts"
import { readBounded } from "../../platform/read-bounded.ts"
import { type CachedWeather, type WeatherCache, weatherCache } from "./weather-cache.ts"
import { readingToPayload, type WeatherFault, type WeatherReading, type WeatherSource } from "./weather-source.ts"

export interface OpenMeteoConfig {
  /** URL of the forecast service, without a path. */
  readonly forecastUrl?: string | undefined
  /** URL of the geocoding service, without a path. */
  readonly geocodingUrl?: string | undefined
  readonly cache?: WeatherCache
}

const FORECAST_URL = "https://api.open-meteo.com"
const GEOCODING_URL = "https://geocoding-api.open-meteo.com"

/** Maximum size of a response, in bytes: about thirty times the usual size. */
const MAX_RESPONSE_BYTES = 64 * 1024

const CURRENT_FIELDS = [
  "temperature_2m",
  "apparent_temperature",
  "relative_humidity_2m",
  "wind_speed_10m",
  "wind_direction_10m",
  "precipitation",
  "weather_code",
  "is_day",
  "visibility",
  "uv_index",
]

const DAILY_FIELDS = [
  "weather_code",
  "temperature_2m_max",
  "temperature_2m_min",
  "precipitation_probability_max",
  "precipitation_sum",
]

const placesSchema = v.object({
  // The service omits `results` if it found nothing.
  results: v.optional(
    v.array(
      v.object({
        name: v.string(),
        latitude: v.pipe(v.number(), v.minValue(-90), v.maxValue(90)),
        longitude: v.pipe(v.number(), v.minValue(-180), v.maxValue(180)),
        country_code: v.optional(v.string()),
        country: v.optional(v.string()),
        admin1: v.optional(v.string()),
      }),
    ),
    [],
  ),
})

const nullableNumberSchema = v.optional(v.nullable(v.number()), null)
const daysSchema = v.pipe(v.array(v.nullable(v.number())), v.minLength(2))

const forecastSchema = v.object({
  current: v.object({
    time: v.string(),
    temperature_2m: v.number(),
    apparent_temperature: v.number(),
    relative_humidity_2m: v.number(),
    wind_speed_10m: v.number(),
    wind_direction_10m: v.number(),
    precipitation: v.number(),
    weather_code: v.number(),
    is_day: v.number(),
    visibility: nullableNumberSchema,
    uv_index: nullableNumberSchema,
  }),
  daily: v.object({
    /** Dates, today first. */
    time: v.pipe(v.array(v.pipe(v.string(), v.isoDate())), v.minLength(2)),
    weather_code: daysSchema,
    temperature_2m_max: daysSchema,
    temperature_2m_min: daysSchema,
    precipitation_probability_max: daysSchema,
    precipitation_sum: daysSchema,
  }),
})

type GeocodedPlace = v.InferOutput<typeof placesSchema>["results"][number]
type WeatherResult<T> = Result<T, WeatherFault>

/**
 * Creates the source (SPEC TO7, TO8). A call makes at most two requests, and none if a fresh result is cached.
 *
 * Errors: `city_unknown`; `upstream_failed` (unreachable, or a status other than 200), `upstream_timeout`,
 *         `upstream_malformed`.
 */
export function createOpenMeteoSource(config: OpenMeteoConfig = {}): WeatherSource {
  const geocodingUrl = config.geocodingUrl ?? GEOCODING_URL
  const forecastUrl = config.forecastUrl ?? FORECAST_URL
  const cache = config.cache ?? weatherCache
  return {
    async fetchWeather(location, now, signal) {
      // The key contains the upstreams, so that results of a test server are never served as real ones.
      const key = `${geocodingUrl} ${forecastUrl} ${location.toLowerCase()}`
      const cached = await cache.get(key)
      if (cached !== null && isYoungerThan(cached, now, WEATHER_FRESH_MS)) return succeed(cached.payload)
      const place = await findPlace(geocodingUrl, location, signal)
      const fetched = place.ok ? await fetchForecast(forecastUrl, place.value, signal) : place
      if (fetched.ok) await cache.put(key, { payload: fetched.value, at: now })
      const canUseStale = !fetched.ok && fetched.fault.reason !== "city_unknown"
      if (canUseStale && cached !== null && isYoungerThan(cached, now, WEATHER_STALE_MS)) return succeed(cached.payload)
      return fetched
    },
  }
}

/** If the clock was set back, an entry from the future is treated as old. */
function isYoungerThan(cached: CachedWeather, now: number, maxMs: number): boolean {
  return now >= cached.at && now - cached.at < maxMs
}

async function findPlace(base: string, location: string, signal: AbortSignal): Promise<WeatherResult<GeocodedPlace>> {
  // The service only matches names. The part after the comma selects one of several places with that name.
  const [name = "", region] = location.split(",").map((part) => part.trim())
  const query = new URLSearchParams({ name, count: region === undefined ? "1" : "10", language: "en", format: "json" })
  const response = await fetchJson("place", `${base}/v1/search?${query}`, placesSchema, signal)
  if (!response.ok) return response
  const { results } = response.value
  const place = (region === undefined ? undefined : results.find((found) => isInRegion(found, region))) ?? results[0]
  if (place === undefined) return fail({ reason: "city_unknown", details: `Nothing was found for "${location}".` })
  return succeed(place)
}

/**
 * Whether a place is in a region. `region` is a country code, a country or a state: "US", "uk", "Germany" or "Texas".
 */
function isInRegion(place: GeocodedPlace, region: string): boolean {
  const lowerRegion = region.toLowerCase()
  const names = [place.country_code, place.country, place.admin1].map((name) => name?.toLowerCase())
  return (
    names.includes(lowerRegion) ||
    (lowerRegion === "uk" && names.includes("gb")) ||
    (lowerRegion === "usa" && names.includes("us"))
  )
}

async function fetchForecast(
  base: string,
  place: GeocodedPlace,
  signal: AbortSignal,
): Promise<WeatherResult<WeatherPayload>> {
  const query = new URLSearchParams({
    latitude: String(place.latitude),
    longitude: String(place.longitude),
    current: CURRENT_FIELDS.join(","),
    daily: DAILY_FIELDS.join(","),
    timezone: "auto",
    // Today counts as one of the days.
    forecast_days: String(MAX_FORECAST_DAYS + 1),
  })
  const response = await fetchJson("forecast", `${base}/v1/forecast?${query}`, forecastSchema, signal)
  if (!response.ok) return response
  return succeed(readingToPayload(forecastToReading(place, response.value), "open-meteo"))
}

function forecastToReading(
  place: GeocodedPlace,
  { current, daily }: v.InferOutput<typeof forecastSchema>,
): WeatherReading {
  return {
    place: place.name,
    country: place.country_code ?? null,
    time: current.time,
    isDay: current.is_day === 1,
    code: current.weather_code,
    temperatureC: current.temperature_2m,
    feelsLikeC: current.apparent_temperature,
    humidityPct: current.relative_humidity_2m,
    windKmh: current.wind_speed_10m,
    windDegrees: current.wind_direction_10m,
    precipMm: current.precipitation,
    visibilityKm: current.visibility === null ? null : current.visibility / 1000,
    uvIndex: current.uv_index,
    days: daily.time.slice(1, MAX_FORECAST_DAYS + 1).map((date, i) => ({
      date,
      code: daily.weather_code[i + 1] ?? null,
      maxC: daily.temperature_2m_max[i + 1] ?? null,
      minC: daily.temperature_2m_min[i + 1] ?? null,
      precipChancePct: daily.precipitation_probability_max[i + 1] ?? null,
      precipMm: daily.precipitation_sum[i + 1] ?? null,
    })),
  }
}

/** Fetches JSON. The details of faults do not contain the URL, because it may be a private URL of the operator's. */
async function fetchJson<const S extends v.GenericSchema>(
  service: "place" | "forecast",
  url: string,
  schema: S,
  signal: AbortSignal,
): Promise<WeatherResult<v.InferOutput<S>>> {
  const serviceName = `The ${service} service`
  try {
    // Redirects are not followed, because the operator chose the host.
    const response = await fetch(url, { signal, redirect: "manual", headers: { accept: "application/json" } })
    if (response.status !== 200) {
      await response.body?.cancel()
      return fail({ reason: "upstream_failed", details: `${serviceName} returned status ${response.status}.` })
    }
    const bytes = await readBounded(response.body, MAX_RESPONSE_BYTES)
    const json = bytes === null ? undefined : parseJson(new TextDecoder().decode(bytes))
    const parsed = v.safeParse(schema, json, { abortEarly: true })
    if (parsed.success) return succeed(parsed.output)
    const path = v.getDotPath(parsed.issues[0])
    const details = `The response of the ${service} service ${path === null ? "is invalid" : `has no valid "${path}"`}.`
    return fail({ reason: "upstream_malformed", details })
  } catch {
    if (signal.aborted) return fail({ reason: "upstream_timeout", details: `${serviceName} did not respond in time.` })
    return fail({
      reason: "upstream_failed",
      details: `${serviceName} could not be reached, or its response was cut off.`,
    })
  }
}
