/**
 * weather-sample.ts: sample weather without a network. It is deterministic: it depends only on the place and the time.
 *
 * Well-known cities have fixed values. Any other plausible name gets values derived from its hash. Some imaginary
 * places are unknown, so that the error can be demonstrated offline. Day and night follow the real sun.
 */

import { MAX_FORECAST_DAYS } from "../../../shared/card/card-limits.ts"
import { fail, succeed } from "../../../shared/fault.ts"
import { hashText } from "../hash-text.ts"
import { type SampleCity, SAMPLE_CITIES } from "./sample-cities.ts"
import {
  addDays,
  type WeatherForecast,
  readingToPayload,
  type WeatherReading,
  type WeatherSource,
} from "./weather-source.ts"

export const sampleSource: WeatherSource = {
  async fetchWeather(location, now, _signal) {
    const city = findCity(location) ?? inventCity(location)
    if (city === null) {
      const details = `The sample data has no place called "${location}".`
      return fail({ reason: "city_unknown", details })
    }
    return succeed(readingToPayload(createReading(city, now), "sample"))
  },
}

/** Places that do not exist. */
const IMAGINARY_PLACES = new Set(
  [
    "atlantis",
    "nowhere",
    "nowhereville",
    "el dorado",
    "eldorado",
    "shangri la",
    "shangri-la",
    "utopia",
    "narnia",
    "mordor",
    "rivendell",
    "hogwarts",
    "wakanda",
    "gotham",
    "gotham city",
    "westeros",
    "neverland",
  ].map(normalizeName),
)

const ALIASES: ReadonlyMap<string, string> = new Map([
  ["nyc", "new york"],
  ["new york city", "new york"],
  ["la", "los angeles"],
  ["sf", "san francisco"],
  ["rio", "rio de janeiro"],
  ["munchen", "munich"],
  ["roma", "rome"],
  ["wien", "vienna"],
  ["bombay", "mumbai"],
  ["ciudad de mexico", "mexico city"],
])

const COUNTRY_ALIASES: ReadonlyMap<string, string> = new Map([
  ["uk", "gb"],
  ["england", "gb"],
  ["scotland", "gb"],
  ["great britain", "gb"],
  ["usa", "us"],
  ["america", "us"],
])

const CITIES_BY_NAME: ReadonlyMap<string, SampleCity> = new Map(
  SAMPLE_CITIES.map((city) => [normalizeName(city.name), city]),
)

/** Converts a name to a form in which names that differ only in case, accents or whitespace are equal. */
function normalizeName(name: string): string {
  return name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/\s+/g, " ").trim()
}

/** Finds a city. "London", "london, uk" and "London, GB" are one city; "London, Ontario" is another. */
function findCity(location: string): SampleCity | null {
  const [name = "", ...rest] = location.split(",").map(normalizeName)
  const city = CITIES_BY_NAME.get(ALIASES.get(name) ?? name)
  if (city === undefined) return null
  const country = rest.at(-1)
  return country === undefined || isCountry(country, city.country) ? city : null
}

function isCountry(name: string, code: string): boolean {
  if ((COUNTRY_ALIASES.get(name) ?? name) === code.toLowerCase()) return true
  const full = new Intl.DisplayNames("en", { type: "region" }).of(code)
  return full !== undefined && normalizeName(full) === name
}

/** Climates for places that are not listed: code, temperature, humidity, wind, chance of rain tomorrow. */
const CLIMATES = [
  [0, 21, 48, 9, 5],
  [1, 17, 55, 12, 10],
  [2, 14, 62, 16, 25],
  [3, 11, 74, 14, 40],
  [61, 9, 86, 22, 80],
  [80, 13, 81, 27, 70],
  [45, 6, 95, 4, 15],
  [71, -2, 88, 13, 65],
  [95, 24, 79, 34, 85],
] as const

/** Returns the weather for a place that is not listed; null if the text cannot be the name of a place. */
function inventCity(location: string): SampleCity | null {
  const name = normalizeName(location)
  if (!/^[\p{L}][\p{L}\p{M}'’.,() -]+$/u.test(location) || IMAGINARY_PLACES.has(name)) return null
  const seed = hashText(name)
  const [code, temperature, humidity, wind, chance] = CLIMATES[seed % CLIMATES.length] ?? CLIMATES[0]
  const shift = ((seed >>> 8) % 50) / 10 - 2.5
  return {
    name: location,
    country: "",
    zone: "UTC",
    latitude: 45,
    longitude: 0,
    sky: [code, temperature + shift, temperature + shift - wind / 12, humidity, wind + shift, (seed >>> 16) % 360],
    tomorrow: [chance > 60 ? 61 : 2, temperature + shift + 2, temperature + shift - 5, chance, chance > 60 ? 3.4 : 0],
  }
}

function createReading(city: SampleCity, now: number): WeatherReading {
  const [code, temperatureC, feelsLikeC, humidityPct, windKmh, windDegrees] = city.sky
  const height = computeSunHeight(city, now)
  const time = formatLocalTime(city.zone, now)
  return {
    place: city.name,
    country: city.country === "" ? null : city.country,
    time,
    isDay: height > 0,
    code,
    temperatureC,
    feelsLikeC,
    humidityPct,
    windKmh,
    windDegrees,
    precipMm: estimatePrecipMm(code),
    visibilityKm: estimateVisibilityKm(code),
    uvIndex: Math.max(0, height) * (code <= 1 ? 11 : code <= 3 ? 7 : 2.5),
    days: createForecast(city, time.slice(0, 10)),
  }
}

/**
 * Creates the forecast for the days after `today`. The first day is the city's fixed forecast. The others vary it,
 * depending on the name and the day.
 */
function createForecast(city: SampleCity, today: string): WeatherForecast[] {
  const [code, maxC, minC, chance, precipMm] = city.tomorrow
  return Array.from({ length: MAX_FORECAST_DAYS }, (_, i) => {
    const date = addDays(today, i + 1)
    if (i === 0)
      return { date, code, maxC: roundToTenth(maxC), minC: roundToTenth(minC), precipChancePct: chance, precipMm }
    const seed = hashText(`${normalizeName(city.name)} ${i}`)
    const [skyCode, , , , skyChance] = CLIMATES.filter(([some]) => canFollow(some, minC))[seed % 6] ?? CLIMATES[3]
    const shift = ((seed >>> 8) % 50) / 10 - 2.5
    const [max, min] = [roundToTenth(maxC + shift), roundToTenth(minC + shift)]
    return {
      date,
      code: skyCode,
      maxC: max,
      minC: min,
      precipChancePct: skyChance,
      precipMm: estimatePrecipMm(skyCode),
    }
  })
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10 + 0
}

/** Whether a weather code is plausible for a night of `minC`. Snow needs 0 °C or less, and other precipitation more. */
function canFollow(code: number, minC: number): boolean {
  return code === 71 ? minC <= 0 : code < 51 || minC > 0
}

/** Returns the typical precipitation for a code, in millimetres per hour. */
function estimatePrecipMm(code: number): number {
  if (code < 51) return 0
  if (code >= 95) return 7.4
  return code === 65 || code === 82 ? 6.2 : code === 63 || code === 81 ? 2.6 : 0.8
}

function estimateVisibilityKm(code: number): number {
  if (code === 45 || code === 48) return 0.3
  if (code >= 71 && code <= 77) return 3.5
  return code >= 51 ? 8 : 24
}

/** Returns the sine of the sun's elevation, which is positive during the day. Accurate to a few minutes. */
function computeSunHeight(city: SampleCity, now: number): number {
  const radians = Math.PI / 180
  const day = (now / 86_400_000) % 365.25
  const hour = (now / 3_600_000) % 24
  const tilt = -23.44 * Math.cos(((day + 10) * 2 * Math.PI) / 365.25) * radians
  const turn = (hour + city.longitude / 15 - 12) * 15 * radians
  const latitude = city.latitude * radians
  return Math.sin(latitude) * Math.sin(tilt) + Math.cos(latitude) * Math.cos(tilt) * Math.cos(turn)
}

/**
 * Formats a time, such as "2026-05-02T14:00", in the time zone of the place, rounded down to a quarter of an hour as
 * real sources do.
 */
function formatLocalTime(zone: string, now: number): string {
  const quarter = Math.floor(now / 900_000) * 900_000
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" })
  return format.format(quarter).replace(" ", "T")
}
